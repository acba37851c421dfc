import type { StoredResource } from './storage.js'

/** A version of a resource: the current one, one that was replaced, or a deletion. */
export interface ResourceVersion {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** Absent for a deletion. */
  readonly stored?: StoredResource
}

/** A version beside those before it. */
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
