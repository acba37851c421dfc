import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { putResource, type Indexer, type PutEntry, type Storage } from 'fhir-ops/storage'

/** The resources that fill a storage. */
export interface Filling {
  readonly from: number
  readonly to: number
  readonly resourceOf: (n: number) => JsonObject
}

const BATCH = 500
const MOST_AT_ONCE = 8

/** Fills a storage as `fhir-ops load` does: some batches are written while the next is indexed, in this thread. */
export async function fill(storage: Storage, indexer: Indexer, { from, to, resourceOf }: Filling): Promise<void> {
  const underWay: Promise<unknown>[] = []
  for (let at = from; at < to; at += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, to - at) }, (_, n) => putEntry(resourceOf(at + n), indexer))
    if (underWay.length === MOST_AT_ONCE) await underWay.shift()
    underWay.push(storage.write(batch))
  }
  await Promise.all(underWay)
}

function putEntry(source: JsonObject, indexer: Indexer): PutEntry {
  return putResource({ type: stringAt(source, 'resourceType') ?? '', id: stringAt(source, 'id') ?? '', source }, indexer)
}
