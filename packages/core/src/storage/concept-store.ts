/** Describes one version of a code system that is stored in sections. */
export interface SystemToStore {
  readonly url: string
  readonly version: string
  /** Layout of the sections, for example `snomed-1`; readers skip formats that they do not know. */
  readonly format: string
  /** Number of concepts, for information; below 2 ** 31. */
  readonly concepts: number
  /** JSON text; the format defines its content. */
  readonly header: string
}

/** A published version of a code system. */
export interface StoredSystem extends SystemToStore {
  /** Identity for caches: the same key always means the same content, in every storage. */
  readonly key: string
}

/** The content of a published version as named sections of bytes. They are read when needed, even while a new version replaces this one. */
export interface SystemSections {
  /**
   * Returns a section synchronously; an adapter that can only read asynchronously reads all sections in `open`. The bytes must not be changed.
   *
   * @throws {OperationError} `storage-damaged` when there is no such section; `storage-unavailable` when the version has been removed.
   */
  section(name: string): Uint8Array
}

/**
 * A version that is being written and is not visible yet. It ends when it is published or discarded, or when another import of the same version
 * begins; from then on `put` and `publish` are refused with `conflict`.
 */
export interface StagedSystem {
  /** Stores a section, or replaces the one with the same name. The bytes must not be changed afterwards. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Publishes all sections atomically. They replace any version published under the same url and version. */
  publish(): Promise<StoredSystem>
  /** Deletes the stored sections. */
  discard(): Promise<void>
}

/**
 * Stores code systems that are too large to be one resource. Each version is imported once, never changed, and stored as prebuilt sections, which an
 * engine reads without rebuilding anything. Errors as in `Storage`.
 */
export interface ConceptStore {
  /** Lists the published versions of all systems, in ascending order of url and version. */
  systems(): Promise<readonly StoredSystem[]>
  /** Opens a published version. @throws {OperationError} `storage-unavailable` when the version no longer exists. */
  open(key: string): Promise<SystemSections>
  /**
   * Begins the import of a version. Deletes the remains of an earlier, unfinished import of the same version; an adapter with persistent storage also
   * deletes the remains of any import that is more than a day old.
   */
  stage(system: SystemToStore): Promise<StagedSystem>
  /** Removes a published version; removing what does not exist succeeds. */
  remove(key: string): Promise<void>
  /** As `Storage.revision`, for the published versions. */
  readonly revision?: (() => number | Promise<number>) | undefined
}
