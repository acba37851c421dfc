import type { FhirResource } from 'fhir/r4.js'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'
import type { Condition, IndexEntry, ScanQuery, SearchQuery } from './query.js'

/** The current version of a resource. `text` and `resource` may be getters of a class, which a spread (`{ ...stored }`) does not copy. */
export interface StoredResource<R extends JsonObject = JsonObject> {
  readonly type: string
  readonly id: string
  /** Decimal number that increases by one with every write of this id, also across deletion and re-creation. */
  readonly versionId: string
  /** Instant in UTC with milliseconds; never decreases for one id. */
  readonly lastUpdated: string
  /** JSON text of the resource with `meta.versionId` and `meta.lastUpdated`; numbers keep their digits. */
  readonly text: string
  /** The parsed `text`. Parsed at first use; a long text may be parsed again after a time without use. All callers share it: the adapters here freeze it. */
  readonly resource: R
  /** Parses a long text in steps, once for all concurrent callers; its result becomes `resource`. When absent, the text is parsed in one go. */
  readonly parsing?: (() => Work<JsonObject>) | undefined
}

/**
 * The TypeScript type of a resource type: that of `@types/fhir` for a type known at compile time, otherwise any JSON object. Writes check the
 * `resourceType` of a resource, but not its shape, unless they are validated.
 */
export type ResourceOf<T extends string> = JsonObject &
  (T extends FhirResource['resourceType'] ? Extract<FhirResource, { resourceType: T }> : unknown)

/** Result of an adapter's `read`: a parsed, unchecked resource of the type that the caller names; `undefined` when there is none. */
export type ReadResult = StoredResource<ReturnType<typeof JSON.parse>> | undefined

/** A resource contained in the one that is put, with its own index entries. */
export interface ContainedEntry {
  /** `containedType` of its type. */
  readonly type: string
  /** Address of the container and id of the contained resource: `MedicationRequest/1#m`. */
  readonly id: string
  /** Its index entries. */
  readonly entries: readonly IndexEntry[]
}

/** Stores a resource, new or as the next version. */
export interface PutEntry {
  readonly op: 'put'
  readonly type: string
  readonly id: string
  /**
   * The resource in the layout of `writableText`: it starts with `{"resourceType":"T","id":"x","meta":{` and has no `meta.versionId`
   * and no `meta.lastUpdated`, so that an adapter can insert them without parsing.
   */
  readonly text: string
  /** All index entries; they replace those of the previous version. */
  readonly entries: readonly IndexEntry[]
  /**
   * Contained resources. Queries for their `type` find them by their entries, under their `id`, with version and time of the container and without
   * content, until the container is put again or deleted. `entries` has a reference to each under `CONTAINED_PARAM`. They have no history.
   */
  readonly contained?: readonly ContainedEntry[] | undefined
  /** The expected current version: a versionId, or `null` when the id must not exist. Not checked when absent. */
  readonly ifVersion?: string | null
  /**
   * For conditional creates and updates: before the write, this resource must be the only one of its type that meets the condition; if it is not current,
   * none may. Otherwise the write fails. Only for storages with `conditionalWrites`; others refuse it.
   */
  readonly ifOnlyMatch?: Condition | undefined
}

/** Deletes a resource; deleting what does not exist succeeds. */
export interface DeleteEntry {
  readonly op: 'delete'
  readonly type: string
  readonly id: string
  readonly ifVersion?: string
}

/** One change of a write. */
export type WriteEntry = PutEntry | DeleteEntry

/** The result of one entry of a write. */
export interface WriteResult {
  readonly type: string
  readonly id: string
  /** The version that the write created, also for a deletion; absent when there was nothing to delete. */
  readonly versionId?: string
  readonly lastUpdated: string
  /** True for a put where there was no current version before. */
  readonly created: boolean
}

/** One page of a search. */
export interface SearchPage {
  readonly items: readonly StoredResource[]
  /** Pass it as `after` to get the next page; absent on the last. Opaque to all but the adapter. */
  readonly next?: string
}

/** A match of a scan. */
export interface ScanItem {
  readonly stored: StoredResource
  /** The resources that refer to it, each once, in any order. */
  readonly referring: readonly StoredResource[]
}

/** One page of a scan. */
export interface ScanPage {
  readonly items: readonly ScanItem[]
  /** Pass it as `after` to get the next page; absent on the last. Opaque to all but the adapter. */
  readonly next?: string
}

/** The resources that were put or deleted between two calls of `Storage.changes`. */
export interface StorageChanges {
  /** Position of the later call; pass it as `since` to get later changes. Opaque to all but the storage that created it. */
  readonly mark: string
  /** Addresses of the changed resources, each at least once; `unknown` when not all are known or `since` is not known. */
  readonly changed: readonly ChangedAddress[] | 'unknown'
}

/** Address of a resource that was put or deleted. */
export interface ChangedAddress {
  readonly type: string
  readonly id: string
}

/** Features that not every adapter has. Engines check them before use. */
export interface Capabilities {
  /** `write` with several entries is all or nothing. */
  readonly atomic: boolean
  /** `count` answers without reading the resources. */
  readonly counts: boolean
  /** `ifVersion` is honoured. */
  readonly preconditions: boolean
  /** `sort` of a query is honoured. */
  readonly sorts: boolean
  /** `contained` of a put is kept. Default false: searches do not find contained resources. */
  readonly contained?: boolean
  /**
   * `ifOnlyMatch` of a put is honoured, also if other processes write at the same time: of puts that meet each other's conditions, the second sees what the
   * first has stored. Default false.
   */
  readonly conditionalWrites?: boolean
  /** A page of a search may have a resource of an earlier page again, because the storage cannot see what another server sends. Default false. */
  readonly repeats?: boolean
}

/**
 * The persistence that engines need. Adapters know nothing about FHIR types: they store text and index entries, and answer queries over entries.
 *
 * Every method rejects with an `OperationError` (`storage-unavailable`, `storage-timeout`, `storage-full`, `storage-locked`,
 * `storage-damaged`) with the driver's error as `cause`. Results are never partial.
 */
export interface Storage {
  readonly capabilities: Capabilities
  /** Old versions and deletions; absent when the storage keeps none. */
  readonly history?: ResourceHistory
  /** Returns the current version, or `undefined` when the resource never existed or was deleted. */
  read<T extends string>(type: T, id: string): Promise<StoredResource<ResourceOf<T>> | undefined>
  /**
   * Returns one page of the current matches, each once, in `query.sort` order and then by ascending `id` (UTF-16 code units). Writes between two
   * pages do not affect other matches: an unchanged match is returned exactly once.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor.
   */
  search(query: SearchQuery): Promise<SearchPage>
  /** Returns the exact number of current matches; `limit`, `after` and `sort` of the query are ignored. 0 for a type without resources. */
  count(query: SearchQuery): Promise<number>
  /**
   * Returns one page of a scan: current matches, each once, with all resources that refer to it, in a stable order that the adapter chooses. The storage
   * does not cache what it reads. Writes between two pages do not affect other matches. Absent where `search` is as fast; `scanResources` then searches.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor; `too-costly` when the resources that refer to one match are longer than
   *   `SCAN_ITEM_BYTES`.
   */
  readonly scan?: ((query: ScanQuery) => Promise<ScanPage>) | undefined
  /**
   * Applies all entries in order, or none; resolves when they are durable and visible to every later read. Results are in the order
   * of the entries. The same id may occur several times: each entry sees the effect of those before it.
   *
   * @throws {OperationError} `version-conflict` when an `ifVersion` or `ifOnlyMatch` does not hold, `resource-invalid` when a text does not have the layout of
   *   `PutEntry.text`, `not-supported` for `ifOnlyMatch` without `conditionalWrites`. Nothing is written then.
   */
  write(entries: readonly WriteEntry[]): Promise<readonly WriteResult[]>
  /**
   * A number that increases with every acknowledged write that puts, replaces or deletes a definition: a resource with an entry whose parameter
   * begins with `DEFINITION_PARAM`. Writes of other processes that this one must see count too. Other writes may increase it. Costs at most one query;
   * absent where it would cost more. Engines keep definitions that they have read while it stays the same.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
  /**
   * Returns what was put or deleted since the call that returned the mark `since`: every write, also of other processes, that was acknowledged before
   * this call and that a read before that call may not have seen. Absent in an adapter that cannot know this exactly without relying on clocks. Engines
   * keep the resources that they read, and read changed ones again.
   */
  readonly changes?: ((since?: string) => Promise<StorageChanges>) | undefined
  /**
   * Waits for running writes, then releases connections, files and timers. Calling it again does nothing; afterwards every other method rejects with
   * `storage-unavailable`.
   */
  close(): Promise<void>
}

/** A version of a resource: the current version, a replaced one, or a deletion. */
export interface ResourceVersion {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** Absent for a deletion. */
  readonly stored?: StoredResource
}

/** A version in a history. */
export interface HistoryItem extends ResourceVersion {
  /** True if there was no current version before. */
  readonly created: boolean
}

/** A period in milliseconds since 1970, both ends inclusive. */
export interface HistoryPeriod {
  readonly from: number
  readonly to: number
}

/** The query of a history. */
export interface HistoryQuery {
  /** Versions of resources of these types. */
  readonly types: readonly string[]
  /** Only versions of resources with this id. */
  readonly id?: string
  /** Only versions written at this time or later, in milliseconds since 1970. */
  readonly since?: number
  /** Only versions that were current at some time in this period; a version replaced in its first millisecond, or a deletion, was not. */
  readonly at?: HistoryPeriod
  /** Maximum number of items in a page, at least 1; the adapter chooses a page size when absent. */
  readonly limit?: number
  /** As `SearchQuery.maxBytes`. */
  readonly maxBytes?: number
  /** `next` of the previous page, for a query with the same `types`, `id`, `since` and `at`. */
  readonly after?: string
}

/** One page of versions. */
export interface HistoryPage {
  readonly items: readonly HistoryItem[]
  /** Pass it as `after` to get the next page; absent on the last. Opaque to all but the adapter. */
  readonly next?: string
}

/** The versions that a storage keeps. Versions written before it began to keep them may be missing. */
export interface ResourceHistory {
  /** Returns a version, which may be a deletion, by its number; `undefined` when it never existed or is not kept. */
  version(type: string, id: string, versionId: string): Promise<ResourceVersion | undefined>
  /**
   * Returns one page of versions, the latest first; those of the same millisecond by type, by id, and the later version of a resource first.
   * Writes between two pages do not affect the remaining items.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor.
   */
  page(query: HistoryQuery): Promise<HistoryPage>
}

/** Every member of `Storage`, including the optional ones, so that a wrapper decides about each of them. */
export type StorageMembers = { readonly [Member in keyof Required<Storage>]: Storage[Member] }

/**
 * Creates a storage that wraps another one. A member added to `Storage` must be named in every call, or the call does not compile, so that no
 * wrapper drops it silently.
 *
 * @param members `undefined` for an optional member that the storage does not have.
 */
export function wrappedStorage({ history, revision, scan, changes, ...members }: StorageMembers): Storage {
  return {
    ...members,
    ...(history !== undefined && { history }),
    ...(revision !== undefined && { revision }),
    ...(scan !== undefined && { scan }),
    ...(changes !== undefined && { changes }),
  }
}

const sources = new WeakMap<Storage, Storage>()

/** Notes that a storage finds and scans what another one does, so that what is kept of either serves both. Returns the storage. */
export function findingAs(storage: Storage, source: Storage): Storage {
  sources.set(storage, sourceOf(source))
  return storage
}

/** The storage by which to keep what searches and scans gave: itself, or what it finds as. */
export function sourceOf(storage: Storage): Storage {
  return sources.get(storage) ?? storage
}
