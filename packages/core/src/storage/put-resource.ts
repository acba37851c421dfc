import { OperationError } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { IndexEntry } from './query.js'
import type { PutEntry } from './storage.js'
import { writableText } from './writable-text.js'

/** What searches find a resource by. `createIndexer` of `fhir-ops/search` makes one from search parameters. */
export type Indexer = (resource: JsonObject) => readonly IndexEntry[]

/** A resource that is to be stored. */
export interface ResourceToPut {
  readonly type: string
  readonly id: string
  /** The resource, or its JSON text; numbers of a text keep their digits. */
  readonly source: string | JsonObject
  readonly ifVersion?: string | null | undefined
}

/**
 * Makes the write entry of a resource: its text laid out, its index entries made.
 *
 * @throws {OperationError} as `writableText`.
 */
export function putResource({ type, id, source, ifVersion }: ResourceToPut, indexer: Indexer): PutEntry {
  const text = writableText(type, id, source)
  const resource: unknown = JSON.parse(text)
  if (!isObject(resource)) throw new OperationError('resource-invalid', 'A resource must be a JSON object.')
  return { op: 'put', type, id, text, entries: indexer(resource), ...(ifVersion !== undefined && { ifVersion }) }
}
