import { forRequest, type OperationContext } from 'fhir-ops/context'
import { ERRORS, OperationError, outcomeOf } from 'fhir-ops/errors'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import type { HistoryItem } from 'fhir-ops/internal/storage'
import {
  isDefinitionEntry,
  storedResource,
  wrappedStorage,
  type HistoryPage,
  type HistoryQuery,
  type PutEntry,
  type ReadResult,
  type ResourceHistory,
  type Storage,
  type StoredResource,
  type WriteEntry,
} from 'fhir-ops/storage'
import type { Exchange } from '../../exchange.js'
import { fhirAnswer, type Answer, createAnswerSize } from '../../http/answer.js'
import type { Service } from '../../service.js'
import { narrowedStorage } from '../narrowed-storage.js'
import { entryError, responseEntry, type BundleEntry, type EntryRunner } from './bundle-entries.js'

/** Maximum size of an answer's entry, without its resource. */
export const ENTRY_BYTES = 1_000
/** Maximum size of the answer, without its entries. */
export const ENVELOPE_BYTES = 1_000

interface Trial {
  readonly reads: readonly BundleEntry[]
  readonly read: EntryRunner['read']
  /** The planned writes of the transaction. */
  readonly writes: readonly WriteEntry[]
  /** Adds an entry to the answer. @throws {OperationError} `too-costly` */
  readonly add: (entry: string) => void
}

/**
 * Runs the reads before anything is written, on the storage as it will be after the writes. If one fails, the whole transaction fails.
 *
 * @returns The entries of the answer, by position.
 * @throws {OperationError} the error of the first read that fails, with its position.
 */
export async function tryReads(
  service: Service,
  exchange: Exchange,
  { reads, read, writes, add }: Trial,
): Promise<ReadonlyMap<number, string>> {
  const entries = new Map<number, string>()
  if (reads.length === 0) return entries
  const over = { ...exchange, ctx: contextAfter(service, exchange, writes) }
  const pace = createPace(exchange.ctx)
  for (const { index, request } of reads) {
    pace.check()
    await pace.step()
    try {
      const entry = responseEntry(await read(request, over))
      add(entry)
      entries.set(index, entry)
    } catch (error) {
      throw entryError(index, error)
    }
  }
  return entries
}

interface Reading {
  readonly reads: readonly BundleEntry[]
  readonly serve: EntryRunner['serve']
  /** The entries of the writes, by position. */
  readonly entries: ReadonlyMap<number, string>
}

/**
 * Adds the entries of the reads after the writes. The writes are final, so this never fails: if a read has become too long for the answer, or there is
 * no time left for it, its entry contains the refusal.
 */
export async function answersToReads(exchange: Exchange, { reads, serve, entries }: Reading): Promise<ReadonlyMap<number, string>> {
  if (reads.length === 0) return entries
  const all = new Map(entries)
  const size = createAnswerSize({ maxBytes: exchange.ctx.limits.maxAnswerBytes, advice: '' })
  for (const entry of all.values()) size.add(entry)
  const tooLong = responseEntry(refusalOf(exchange, noRoom()))
  const pace = createPace(exchange.ctx)
  let refusal: OperationError | undefined
  for (const [place, { index, request }] of reads.entries()) {
    refusal ??= await refusalBy(pace)
    const entry = responseEntry(refusal === undefined ? await serve(request, exchange) : refusalOf(exchange, refusal))
    const rest = ENVELOPE_BYTES + (reads.length - place - 1) * ENTRY_BYTES
    const isTaken = size.takes(entry, rest)
    if (!isTaken) size.add(tooLong)
    all.set(index, isTaken ? entry : tooLong)
  }
  return all
}

function noRoom(): OperationError {
  return new OperationError('too-costly', 'The answer to the transaction has no room for this entry; read it by itself.')
}

function refusalOf({ ctx }: Exchange, error: OperationError): Answer {
  return fhirAnswer(ERRORS[error.code].status, outcomeOf(error, ctx.newId()))
}

/** Lets other requests run; returns the reason if there is no time for more. */
async function refusalBy(pace: Pace): Promise<OperationError | undefined> {
  try {
    await pace.step()
    return undefined
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
}

/**
 * Returns a context in which the planned writes are visible, as far as a read can fail because of them: resources by id, with their histories, and
 * definitions by canonical. Searches still find only what is stored.
 */
function contextAfter({ indexer }: Service, { ctx, caller }: Exchange, entries: readonly WriteEntry[]): OperationContext {
  if (entries.length === 0) return ctx
  const planned = new Map(entries.map((entry) => [`${entry.type}/${entry.id}`, itemOf(ctx, entry)]))
  const definitions = entries.filter(isDefinition).map(({ text }): object => JSON.parse(text))
  const after = { ...forRequest(ctx, { resources: definitions }), storage: storageAfter(ctx.storage, planned) }
  return caller.isNarrowed ? { ...after, storage: narrowedStorage(after, caller, indexer) } : after
}

function isDefinition(entry: WriteEntry): entry is PutEntry {
  return entry.op === 'put' && entry.entries.some(isDefinitionEntry)
}

/** The planned version of an entry. Its id is random: its number is unknown, and nothing may be cached under a number that another write could get. */
function itemOf({ now, newId }: OperationContext, entry: WriteEntry): HistoryItem {
  const { type, id } = entry
  const version = { type, id, versionId: newId(), lastUpdated: now().toISOString() }
  const stored: StoredResource | undefined = entry.op === 'put' ? storedResource({ ...version, text: entry.text }) : undefined
  return { ...version, created: false, ...(stored !== undefined && { stored }) }
}

type Planned = ReadonlyMap<string, HistoryItem>

function storageAfter(storage: Storage, planned: Planned): Storage {
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history && historyAfter(storage.history, planned),
    // Otherwise results would be cached that are based on resources not yet written.
    revision: undefined,
    changes: undefined,
    async read(type, id): Promise<ReadResult> {
      const item = planned.get(`${type}/${id}`)
      return item === undefined ? storage.read(type, id) : item.stored
    },
    search: (query) => storage.search(query),
    count: (query) => storage.count(query),
    scan: storage.scan,
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

/** Adds the planned version before the others, numbered after the latest of them. */
function historyAfter(history: ResourceHistory, planned: Planned): ResourceHistory {
  return {
    async version(type, id, versionId) {
      const item = planned.get(`${type}/${id}`)
      if (item === undefined) return history.version(type, id, versionId)
      const [last] = (await history.page({ types: [type], id, limit: 1 })).items
      return Number(versionId) === Number(last?.versionId ?? 0) + 1 ? item : history.version(type, id, versionId)
    },
    async page(query): Promise<HistoryPage> {
      const page = await history.page(query)
      const item = newestOf(query, planned)
      return item === undefined ? page : { ...page, items: [item, ...page.items] }
    },
  }
}

function newestOf({ types: [type = ''], id, after }: HistoryQuery, planned: Planned): HistoryItem | undefined {
  return id === undefined || after !== undefined ? undefined : planned.get(`${type}/${id}`)
}
