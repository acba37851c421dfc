import { OperationError, quoted } from 'fhir-ops/internal/errors'
import { readBot } from 'fhir-ops/internal/execute'
import { readStrictJson, stringAt } from 'fhir-ops/internal/json'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import { puttingChecked, resourceTypes, type CheckedResource } from 'fhir-ops/internal/storage'
import { isResourceType, type Indexer, type PutEntry } from 'fhir-ops/storage'
import { finished } from 'fhir-ops/internal/work'
import { faultIn } from '../json-fault.js'
import { startThread, type Thread } from '../thread.js'
import type { Source } from './sources.js'

/** A resource that was not loaded, and the reason. */
export interface Refusal {
  readonly place: string
  readonly reason: string
}

/** The result of preparing sources: write entries with index entries, and refused resources. */
export interface Prepared {
  readonly entries: readonly PutEntry[]
  readonly refused: readonly Refusal[]
}

/** Makes write entries from sources, in this thread or another. */
export type Prepare = (sources: readonly Source[]) => Prepared | Promise<Prepared>

/** Makes write entries from sources. A resource that cannot be stored is refused with its place. */
export function prepare(sources: readonly Source[], indexer: Indexer): Prepared {
  const entries: PutEntry[] = []
  const refused: Refusal[] = []
  for (const source of sources) {
    try {
      entries.push(finished(puttingChecked(checked(source), indexer)))
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      refused.push(refusalOf(source, error))
    }
  }
  return { entries, refused }
}

/** Makes a refusal; for invalid JSON, adds line, column and the unexpected text to the error's message. */
function refusalOf({ text, place, line }: Source, { code, message }: OperationError): Refusal {
  const fault = code === 'body-invalid' ? faultIn(text, line) : undefined
  if (fault === undefined) return { place, reason: message }
  const file = place.endsWith(`:${line}`) ? place.slice(0, -`:${line}`.length) : place
  const [problem] = message.replace(/\.$/, '').split(': ', 1)
  return { place: `${file}:${fault.line}:${fault.column}`, reason: `${problem}: ${fault.text}.` }
}

/** The same limits as for the body of a write on a server, except for the number of members, because files may be larger than bodies. */
const LIMITS = { maxDepth: 128, maxMembers: Infinity, maxString: 1024 * 1024, name: 'The resource' }

function checked({ text, id: otherId }: Source): CheckedResource {
  const resource = finished(readStrictJson(text, LIMITS))
  const type = stringAt(resource, 'resourceType')
  if (type === undefined) throw new OperationError('resource-invalid', 'This is not a FHIR resource: it has no resourceType.')
  if (!isResourceType(type)) throw noSuchType(type)
  const id = otherId ?? stringAt(resource, 'id')
  if (id === undefined) throw new OperationError('resource-invalid', `This ${type} has no id, so it cannot be stored.`)
  // A Bot is code that callers may run. If it comes from a package, where everything has a url, it is not a bot: packages do not contain code.
  if (type === 'Bot') readBot({ ...resource, id })
  return { type, id, text, resource }
}

/** @param type The resource's own type, of any length. */
function noSuchType(type: string): OperationError {
  const hint = didYouMean(nearest(type, resourceTypes())) ?? 'Resources of other releases of FHIR cannot be loaded.'
  return new OperationError('resource-invalid', `${quoted(type)} is not a resource type of FHIR R4. ${hint}`)
}

/** Threads that make write entries, so that the calling thread only reads and the storage writes. */
interface IndexingThreads {
  prepare(sources: readonly Source[]): Promise<Prepared>
  close(): Promise<void>
}

/** Options of the indexer in the threads. */
interface IndexingOptions {
  /** True if words are indexed too. */
  readonly words: boolean
}

/** @param count At least 1. */
export function indexingThreads(count: number, options: IndexingOptions): IndexingThreads {
  const threads = Array.from({ length: count }, (): Thread<readonly Source[], Prepared> => startThread('load/indexing-thread', options))
  let turn = 0
  return {
    async prepare(sources) {
      const [thread] = threads.slice(turn++ % count)
      if (thread === undefined) throw new TypeError('There are no threads.')
      return thread.ask(sources)
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.end()))
    },
  }
}
