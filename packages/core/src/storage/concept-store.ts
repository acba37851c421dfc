/** What names one version of a code system that is kept in sections. */
export interface SystemToStore {
  readonly url: string
  readonly version: string
  /** How the sections are laid out, for example `snomed-1`; readers skip formats that they do not know. */
  readonly format: string
  /** Number of concepts, for people; below 2 ** 31. */
  readonly concepts: number
  /** JSON text; its content is up to the format. */
  readonly header: string
}

/** A published version of a code system. */
export interface StoredSystem extends SystemToStore {
  /** Same key, same content, forever and in every storage; the identity for caches. */
  readonly key: string
}

/** The content of a published version: named pieces of bytes, read when they are needed, also while a next version takes its place. */
export interface SystemSections {
  /**
   * Reads at once: an adapter that can only wait for its bytes reads them all in `open`. The bytes must not be changed.
   *
   * @throws {OperationError} `storage-damaged` when there is no such section; `storage-unavailable` when the version was removed since.
   */
  section(name: string): Uint8Array
}

/**
 * A version that is being written and is not visible yet. It ends when it is published or discarded, and when another import of the same version
 * begins; `put` and `publish` are refused from then on with `conflict`.
 */
export interface StagedSystem {
  /** Keeps a section; a name that was put before is replaced. The bytes must not be changed afterwards. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Makes all sections visible at once, instead of what was published under the same url and version. */
  publish(): Promise<StoredSystem>
  /** Forgets what was put. */
  discard(): Promise<void>
}

/**
 * Code systems that are too large to be one resource: each version is imported once, never changed, and kept as prebuilt sections that an
 * engine reads without rebuilding anything. Errors as in `Storage`.
 */
export interface ConceptStore {
  /** The published versions of all systems, in ascending order of url and version. */
  systems(): Promise<readonly StoredSystem[]>
  /** @throws {OperationError} `storage-unavailable` when there is no such version any more. */
  open(key: string): Promise<SystemSections>
  /**
   * Begins a version. What an earlier, unfinished import of the same version left behind is dropped; an adapter that outlives the process drops
   * what any left a day before.
   */
  stage(system: SystemToStore): Promise<StagedSystem>
  /** Removes a published version; removing what does not exist succeeds. */
  remove(key: string): Promise<void>
  /** As that of `Storage`, for the published versions. */
  readonly revision?: (() => number | Promise<number>) | undefined
}
