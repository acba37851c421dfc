import type { FhirResource } from 'fhir/r4.js'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'
import type { IndexEntry, ScanQuery, SearchQuery } from './query.js'

/** The current version of a resource as an adapter keeps it. `text` and `resource` may be getters of its class, which a spread (`{ ...stored }`) leaves out. */
export interface StoredResource<R extends JsonObject = JsonObject> {
  readonly type: string
  readonly id: string
  /** Decimal number, one more with every write of this id, also across deletion and re-creation. */
  readonly versionId: string
  /** Instant in UTC with milliseconds; never goes back for one id. */
  readonly lastUpdated: string
  /** The resource's JSON text with `meta.versionId` and `meta.lastUpdated`; numbers as they were written. */
  readonly text: string
  /** The same, parsed at first use; again, where the text is long and what was parsed of it has not been used for a while. Do not change it. */
  readonly resource: R
  /** Parses a long text in pieces, once however many ask for it; `resource` is what it gives as long as that is used. Without it, in one go. */
  readonly parsing?: (() => Work<JsonObject>) | undefined
}

/**
 * What a resource of a type is: that of `@types/fhir` for a type that is known when the code is compiled, else any JSON object. That a stored resource is of
 * its type is checked when it is written; whether it has the shape of the type is not, unless writes are validated.
 */
export type ResourceOf<T extends string> = JsonObject &
  (T extends FhirResource['resourceType'] ? Extract<FhirResource, { resourceType: T }> : unknown)

/** What `read` of an adapter gives: a resource that is parsed and not checked, of whatever type the caller names; `undefined` when there is none. */
export type ReadResult = StoredResource<ReturnType<typeof JSON.parse>> | undefined

/** A resource within the one that is put, to be found for itself. */
export interface ContainedEntry {
  /** `containedType` of its type. */
  readonly type: string
  /** Address of the container and its own id: `MedicationRequest/1#m`. */
  readonly id: string
  /** Everything that searches can find it by. */
  readonly entries: readonly IndexEntry[]
}

/** Stores a resource, new or as the next version. */
export interface PutEntry {
  readonly op: 'put'
  readonly type: string
  readonly id: string
  /**
   * The resource in the layout of `writableText`: it starts with `{"resourceType":"T","id":"x","meta":{` and has no `meta.versionId`
   * and no `meta.lastUpdated`, so that an adapter stamps them in without parsing.
   */
  readonly text: string
  /** Everything that searches can find it by; replaces the entries of the version before. */
  readonly entries: readonly IndexEntry[]
  /**
   * Resources within this one. Queries of their `type` find each of them by its entries, under its `id`, with the version and time of this one and no
   * content, until this one is put again or deleted. `entries` has a reference to each under `CONTAINED_PARAM`. They have no history.
   */
  readonly contained?: readonly ContainedEntry[] | undefined
  /** The version that must be current: a versionId, or `null` when the id must not exist. Not checked when absent. */
  readonly ifVersion?: string | null
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

/** What became of one entry of a write. */
export interface WriteResult {
  readonly type: string
  readonly id: string
  /** The version made by the write; for a deletion, that of the deletion, absent when there was nothing to delete. */
  readonly versionId?: string
  readonly lastUpdated: string
  /** True when no current version existed before. */
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
  /** What refers to it, each once, in no particular order. */
  readonly referring: readonly StoredResource[]
}

/** One page of a scan. */
export interface ScanPage {
  readonly items: readonly ScanItem[]
  /** Pass it as `after` to get the next page; absent on the last. Opaque to all but the adapter. */
  readonly next?: string
}

/** What was put or deleted between two moments. */
export interface StorageChanges {
  /** The later moment; pass it as `since` to learn what came after it. Opaque to all but the storage, another one does not know it. */
  readonly mark: string
  /** The addresses of what was put or deleted, each at least once; `unknown` where not all are known, or the earlier moment is not. */
  readonly changed: readonly ChangedAddress[] | 'unknown'
}

/** Of a resource that was put or deleted. */
export interface ChangedAddress {
  readonly type: string
  readonly id: string
}

/** What not every adapter can do. Engines ask before they rely on it. */
export interface Capabilities {
  /** `write` with several entries is all or nothing. */
  readonly atomic: boolean
  /** `count` answers without reading the resources. */
  readonly counts: boolean
  /** `ifVersion` is honoured. */
  readonly preconditions: boolean
  /** `sort` of a query is honoured. */
  readonly sorts: boolean
  /** `contained` of a put is kept. Default false: then what is within a resource is not found. */
  readonly contained?: boolean
}

/**
 * What engines need from persistence. Adapters know no FHIR type: they keep text and index entries, and answer queries over entries.
 *
 * Every method rejects with an `OperationError` (`storage-unavailable`, `storage-timeout`, `storage-full`, `storage-locked`,
 * `storage-damaged`); drivers' errors are its `cause`. Results are never partial.
 */
export interface Storage {
  readonly capabilities: Capabilities
  /** Old versions and deletions; absent when the storage keeps none. */
  readonly history?: ResourceHistory
  /** The current version, or `undefined` when it never existed or was deleted. */
  read<T extends string>(type: T, id: string): Promise<StoredResource<ResourceOf<T>> | undefined>
  /**
   * One page of the current matches, each once, in `query.sort` order and then ascending `id` (UTF-16 code units). Writes between two
   * pages do not disturb the rest: what stays as it is comes once.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor.
   */
  search(query: SearchQuery): Promise<SearchPage>
  /** Exact number of current matches; `limit`, `after` and `sort` of the query mean nothing here. A type without resources has none. */
  count(query: SearchQuery): Promise<number>
  /**
   * One page of a scan: current matches, each once, in an order that the adapter chooses and keeps, each with all that refers to it. What is
   * read is not kept by the storage for later calls. Writes between two pages do not disturb the rest. Left out where `search` is as quick;
   * `scanResources` then searches.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor; `too-costly` when what refers to one resource is longer than
   *   `SCAN_ITEM_BYTES`.
   */
  readonly scan?: ((query: ScanQuery) => Promise<ScanPage>) | undefined
  /**
   * Applies all entries in order, or none; resolves when they are durable, and every read after that sees them. Results are in the order
   * of the entries. The same id may come several times: each entry sees what the ones before it did.
   *
   * @throws {OperationError} `version-conflict` when an `ifVersion` does not hold, `resource-invalid` when a text is not laid out as
   *   `PutEntry.text` says: nothing is written then.
   */
  write(entries: readonly WriteEntry[]): Promise<readonly WriteResult[]>
  /**
   * A number that has risen whenever a write was acknowledged since that put, replaced or deleted a definition: a resource with an entry
   * whose parameter begins with `DEFINITION_PARAM`. A write of another process that this one must see counts too. Other writes may raise
   * it. Telling it costs one question at most, and is left out where it would cost more. Engines keep what they looked up while it stays.
   */
  readonly revision?: (() => number | Promise<number>) | undefined
  /**
   * What was put or deleted since an earlier call gave the mark: all that was acknowledged before this call, by other processes too, and that a read
   * before that one may not have seen. Left out by an adapter that cannot know it exactly, without a look at clocks. Engines keep what they read, and
   * read again what has changed.
   */
  readonly changes?: ((since?: string) => Promise<StorageChanges>) | undefined
  /**
   * Releases connections, files and timers after the writes under way. Calling it again does nothing; every other method rejects with
   * `storage-unavailable` afterwards.
   */
  close(): Promise<void>
}

/** A version of a resource: the current one, one that was replaced, or a deletion. */
export interface ResourceVersion {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** Absent for a deletion. */
  readonly stored?: StoredResource
}

/** A version with those before it. */
export interface HistoryItem extends ResourceVersion {
  /** True when no current version existed before. */
  readonly created: boolean
}

/** The milliseconds since 1970 from one to another, both inclusive. */
export interface HistoryPeriod {
  readonly from: number
  readonly to: number
}

/** Which versions are asked for. */
export interface HistoryQuery {
  /** Of resources of these types. */
  readonly types: readonly string[]
  /** Of resources with this id only. */
  readonly id?: string
  /** Written at this time or later, in milliseconds since 1970. */
  readonly since?: number
  /** Current at some time of this period, from its first millisecond on: what is replaced in that one is not. A deletion never is. */
  readonly at?: HistoryPeriod
  /** Most items of a page, at least 1; the adapter chooses a page size when absent. */
  readonly limit?: number
  /** As of `SearchQuery`. */
  readonly maxBytes?: number
  /** `next` of the page before, for a query with the same `types`, `id`, `since` and `at`. */
  readonly after?: string
}

/** One page of versions. */
export interface HistoryPage {
  readonly items: readonly HistoryItem[]
  /** Pass it as `after` to get the next page; absent on the last. Opaque to all but the adapter. */
  readonly next?: string
}

/** The versions that a storage keeps. A version that was written before the storage began to keep them may be missing. */
export interface ResourceHistory {
  /** A version by its number, a deletion too; `undefined` for one that there never was or that is not kept. */
  version(type: string, id: string, versionId: string): Promise<ResourceVersion | undefined>
  /**
   * One page of versions, the latest first; those of the same millisecond by type, by id, and the later version of a resource first.
   * Writes between two pages do not disturb the rest.
   *
   * @throws {OperationError} `search-invalid` when `after` is not a cursor.
   */
  page(query: HistoryQuery): Promise<HistoryPage>
}
