import { checkGiven } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { finished, type Work } from '../work/index.js'
import type { IndexEntry } from './query.js'
import type { ContainedEntry, PutEntry } from './storage.js'
import { writableResource } from './writable-text.js'

/** What searches find a resource by. `createIndexer` of `fhir-ops/search` makes one from search parameters. */
export interface Indexer {
  (resource: JsonObject): readonly IndexEntry[]
  /** The same, for those who let others run in between. */
  readonly work?: (resource: JsonObject) => Work<readonly IndexEntry[]>
  /** What the resources within it are found by; absent where they are not found. */
  readonly contained?: (resource: JsonObject) => Work<readonly ContainedEntry[]>
}

/** A resource that is to be stored. */
export interface ResourceToPut {
  readonly type: string
  readonly id: string
  /** The resource, or its JSON text; numbers of a text keep their digits. */
  readonly source: string | object
  readonly ifVersion?: string | null | undefined
}

/**
 * Makes the write entry of a resource: its text laid out, its index entries made.
 *
 * @throws {OperationError} as `writableText`; `parameter-required` without an indexer.
 */
export function putResource(put: ResourceToPut, indexer: Indexer): PutEntry {
  return finished(puttingResource(put, indexer))
}

/** As `putResource`, for those who let others run in between. */
export function* puttingResource({ type, id, source, ifVersion }: ResourceToPut, indexer: Indexer): Work<PutEntry> {
  const { text, resource } = yield* writableResource(type, id, source)
  checkGiven('indexer', indexer)
  yield
  const entries = indexer.work === undefined ? indexer(resource) : yield* indexer.work(resource)
  const contained = indexer.contained === undefined ? [] : yield* indexer.contained(resource)
  return { op: 'put', type, id, text, entries, ...(contained.length > 0 && { contained }), ...(ifVersion !== undefined && { ifVersion }) }
}
