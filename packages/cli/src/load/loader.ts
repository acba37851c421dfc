import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/json'
import { putResource, type Indexer, type PutEntry, type Storage } from 'fhir-ops/storage'
import { entriesIn, type Source } from './sources.js'

/** What a load did. */
export interface LoadSummary {
  readonly loaded: number
  /** How many of each type were loaded, in the order of first appearance. */
  readonly types: ReadonlyMap<string, number>
  readonly refused: readonly Refusal[]
}

/** A resource that was not loaded, and why. */
export interface Refusal {
  readonly place: string
  readonly reason: string
}

export interface LoadOptions {
  readonly storage: Storage
  readonly indexer: Indexer
  /** Called about once a second with the number of resources loaded so far. */
  readonly onProgress?: (loaded: number) => void
}

const BATCH = 500
const PROGRESS_MS = 1_000

/**
 * Stores every resource of the paths, in batches. A resource that cannot be stored is refused with its place and does not stop the others.
 *
 * @throws {OperationError} when a path cannot be read or the storage fails; the batches before stay stored.
 */
export async function load(paths: readonly string[], options: LoadOptions): Promise<LoadSummary> {
  const refused: Refusal[] = []
  const types = new Map<string, number>()
  let loaded = 0
  let said = performance.now()
  for await (const batch of batches(paths, options.indexer, refused)) {
    await options.storage.write(batch)
    loaded += batch.length
    for (const { type } of batch) types.set(type, (types.get(type) ?? 0) + 1)
    if (performance.now() - said < PROGRESS_MS) continue
    options.onProgress?.(loaded)
    said = performance.now()
  }
  return { loaded, types, refused }
}

async function* batches(paths: readonly string[], indexer: Indexer, refused: Refusal[]): AsyncGenerator<readonly PutEntry[]> {
  let batch: PutEntry[] = []
  for (const path of paths) {
    for await (const source of entriesIn(path)) {
      const entry = entryOf(source, indexer)
      if ('reason' in entry) refused.push(entry)
      else batch.push(entry)
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

function entryOf({ text, place }: Source, indexer: Indexer): PutEntry | Refusal {
  try {
    const { type, id } = addressIn(text)
    return putResource({ type, id, source: text }, indexer)
  } catch (error) {
    if (error instanceof OperationError) return { place, reason: error.message }
    throw error
  }
}

function addressIn(text: string): { type: string; id: string } {
  const resource = parsed(text)
  const type = isObject(resource) ? stringAt(resource, 'resourceType') : undefined
  if (!isObject(resource) || type === undefined)
    throw new OperationError('resource-invalid', 'This is no FHIR resource: it has no resourceType.')
  const id = stringAt(resource, 'id')
  if (id === undefined) throw new OperationError('resource-invalid', `This ${type} has no id, so it has no place to be stored at.`)
  return { type, id }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OperationError('body-invalid', 'This is no JSON.', { cause })
  }
}
