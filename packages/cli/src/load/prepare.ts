import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/json'
import { putResource, type Indexer, type PutEntry } from 'fhir-ops/storage'
import type { Source } from './sources.js'

/** A resource that was not loaded, and why. */
export interface Refusal {
  readonly place: string
  readonly reason: string
}

/** What became of some sources: write entries with their index entries, and what cannot be stored. */
export interface Prepared {
  readonly entries: readonly PutEntry[]
  readonly refused: readonly Refusal[]
}

/** Makes write entries of sources, here or in a thread. */
export type Prepare = (sources: readonly Source[]) => Prepared | Promise<Prepared>

/** Makes write entries of sources. A resource that cannot be stored is refused with its place. */
export function prepare(sources: readonly Source[], indexer: Indexer): Prepared {
  const entries: PutEntry[] = []
  const refused: Refusal[] = []
  for (const { text, place, id } of sources) {
    try {
      entries.push(putResource({ ...addressIn(text, id), source: text }, indexer))
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      refused.push({ place, reason: error.message })
    }
  }
  return { entries, refused }
}

function addressIn(text: string, otherId: string | undefined): { readonly type: string; readonly id: string } {
  const resource = parsed(text)
  const type = isObject(resource) ? stringAt(resource, 'resourceType') : undefined
  if (!isObject(resource) || type === undefined) {
    throw new OperationError('resource-invalid', 'This is not a FHIR resource: it has no resourceType.')
  }
  const id = otherId ?? stringAt(resource, 'id')
  if (id === undefined) throw new OperationError('resource-invalid', `This ${type} has no id, so it cannot be stored.`)
  return { type, id }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OperationError('body-invalid', 'This is not JSON.', { cause })
  }
}
