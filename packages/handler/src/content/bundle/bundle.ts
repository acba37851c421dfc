import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { checkpoint, createPace, type Pace } from 'fhir-ops/internal/context'
import type { WriteEntry, WriteResult } from 'fhir-ops/storage'
import type { Exchange, WritePlan } from '../../exchange.js'
import { createAnswerSize, type Answer } from '../../http/answer.js'
import type { Service } from '../../service.js'
import { createBundleWriter, type BundleWriter } from '../bundle-text.js'
import { answerToPlan, retryingConflicts, writesOf } from '../write.js'
import { checksCriteria, criteriaText } from '../criteria.js'
import { returnPreference } from '../../http/negotiation.js'
import { bundleEntries, entryError, responseEntry, type BundleEntry, type EntryRunner, type PlannedEntry } from './bundle-entries.js'
import { textsWithLinks } from './transaction-links.js'
import { answersToReads, ENTRY_BYTES, ENVELOPE_BYTES, tryReads } from './transaction-reads.js'

/** Runs a batch or a transaction. @throws {OperationError} `body-structure` for a Bundle of another type. */
export async function runBundle(service: Service, exchange: Exchange, runner: EntryRunner): Promise<Answer> {
  const { resourceType, type } = exchange.body?.json ?? {}
  if (resourceType !== 'Bundle') throw new OperationError('body-structure', 'The body must be a Bundle.', { expression: ['resourceType'] })
  if (type === 'batch') return runBatch(service, exchange, runner.serve)
  if (type === 'transaction') return runTransaction(service, exchange, runner)
  throw new OperationError('body-structure', 'The Bundle must have the type batch or transaction.', { expression: ['Bundle.type'] })
}

/**
 * Answers the entries of a batch one by one, in order; a failing entry does not affect the others.
 *
 * @throws {OperationError} `too-costly` if the answer becomes too long (earlier entries have been executed by then); `body-structure`,
 *   `computation-timeout`, `aborted`.
 * @see https://hl7.org/fhir/R4/http.html#transaction
 */
async function runBatch(service: Service, exchange: Exchange, serve: EntryRunner['serve']): Promise<Answer> {
  const response = createBundleWriter(exchange.ctx, { type: 'batch-response' }, ADVICE)
  const pace = createPace(exchange.ctx)
  for (const { index, request } of await bundleEntries(service, exchange)) {
    pace.check()
    await pace.step()
    addEntry(response, index, await serve(request, exchange))
  }
  return response.answer()
}

const ADVICE = 'Send fewer entries; those before this one were carried out.'

function addEntry(response: BundleWriter, index: number, answer: Answer): void {
  try {
    response.add([responseEntry(answer)])
  } catch (error) {
    throw entryError(index, error)
  }
}

/**
 * Executes all entries of a transaction, or none: deletions, then creates, then updates; then reads and searches, which see what was
 * written. These are tried before anything is written. References to other entries by `fullUrl` are replaced by references to the stored resources.
 *
 * @throws {OperationError} `not-supported` if the storage cannot write several resources atomically; otherwise the error of the first entry that
 *   fails, with its position.
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
async function runTransaction(service: Service, exchange: Exchange, runner: EntryRunner): Promise<Answer> {
  const { model } = checkCapable(exchange)
  const entries = await bundleEntries(service, exchange)
  const [reads, writes] = [entries.filter(isRead), entries.filter((entry) => !isRead(entry))]
  checkCriteria(service, writes)
  const { tried, answers } = await whileLocked(service, lockKeys(service, exchange, writes), async () => {
    const planned = await planAll(exchange, writes, runner.plan)
    return writeTogether(service, exchange, { planned, model, reads, runner })
  })
  const written = new Map([...answers].map(([at, answer]) => [at, responseEntry(answer)]))
  // If nothing was written, the trial reads have seen everything.
  const answered = writes.length === 0 ? tried : await answersToReads(exchange, { reads, serve: runner.serve, entries: written })
  const response = createBundleWriter(exchange.ctx, { type: 'transaction-response' }, '')
  for (const { index } of entries) response.add([answered.get(index) ?? '{}'])
  return response.answer()
}

function checkCapable({ ctx }: Exchange): { readonly model: TypeModel } {
  const { search, storage } = ctx
  if (storage.capabilities.atomic && search !== undefined) return { model: search.parameters.model }
  throw new OperationError('not-supported', 'Bundles of the type transaction are not supported here; send a batch.')
}

function isRead({ request }: BundleEntry): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

/** What the writes of a transaction must not change at the same time as others do: the patched resources, and what meets their criteria. */
function lockKeys(service: Service, exchange: Exchange, writes: readonly BundleEntry[]): readonly string[] {
  const patched = writes.filter(({ request }) => request.method === 'PATCH').map(({ request }) => request.target)
  const criteria = writes.flatMap((entry) => criteriaKey(service, entry) ?? [])
  return [...patched, ...(checksCriteria(exchange) ? criteria : typesOf(criteria))]
}

/** Runs a change as `runConditional` does a single one. Patches and writes with criteria are planned again if others have changed what they found. */
function whileLocked<T>({ writeLock }: Service, keys: readonly string[], change: () => Promise<T>): Promise<T> {
  return writeLock(keys, () => (keys.length === 0 ? change() : retryingConflicts(change)))
}

function typesOf(criteria: readonly string[]): readonly string[] {
  return [...new Set(criteria.flatMap((key) => key.split(/[/?]/, 1)))]
}

/** Two entries with the same criteria would not see each other's result: both would create a resource. */
function checkCriteria(service: Service, writes: readonly BundleEntry[]): void {
  const known = new Set<string>()
  for (const entry of writes) {
    const key = criteriaKey(service, entry)
    if (key === undefined) continue
    if (known.has(key)) throw entryError(entry.index, new OperationError('body-structure', 'Another entry has the same criteria.'))
    known.add(key)
  }
}

/** Returns `Type?criteria`; `undefined` for an entry without criteria. */
function criteriaKey(service: Service, { request }: BundleEntry): string | undefined {
  if (request.method !== 'POST') return request.target.includes('?') ? request.target : undefined
  const criteria = request.header('if-none-exist')
  return criteria === undefined ? undefined : `${request.target}?${criteriaText(service, request.target, criteria)}`
}

async function planAll(exchange: Exchange, writes: readonly BundleEntry[], plan: EntryRunner['plan']): Promise<readonly PlannedEntry[]> {
  const planned: PlannedEntry[] = []
  const taken = new Set<string>()
  const pace = createPace(exchange.ctx)
  for (const entry of writes) {
    pace.check()
    await pace.step()
    try {
      const made = await plan(entry.request, exchange)
      checkDistinct(taken, made.plan)
      planned.push({ entry, ...made })
    } catch (error) {
      throw entryError(entry.index, error)
    }
  }
  return planned
}

function checkDistinct(taken: Set<string>, plan: WritePlan): void {
  for (const { type, id } of plan.kind === 'delete' ? plan.entries : [plan]) {
    const address = `${type}/${id}`
    if (taken.has(address)) throw new OperationError('body-structure', `Another entry has the same target ${address}.`)
    taken.add(address)
  }
}

interface Transaction {
  readonly planned: readonly PlannedEntry[]
  readonly model: TypeModel
  readonly reads: readonly BundleEntry[]
  readonly runner: EntryRunner
}

interface WrittenTogether {
  /** Answers to the writes, by position of their entry. */
  readonly answers: ReadonlyMap<number, Answer>
  /** Entries that the trial reads have produced, by position. */
  readonly tried: ReadonlyMap<number, string>
}

/** A planned entry with what it writes. */
interface EntryWrites extends PlannedEntry {
  readonly writes: readonly WriteEntry[]
}

/** R4's order of execution, for storages that apply writes in order. */
const ORDER: readonly string[] = ['DELETE', 'POST', 'PUT', 'PATCH']

/** Writes all planned entries at once, with links resolved, after every read has succeeded in the trial. */
async function writeTogether(
  service: Service,
  exchange: Exchange,
  { planned, model, reads, runner }: Transaction,
): Promise<WrittenTogether> {
  const pace = createPace(exchange.ctx)
  const texts = await textsWithLinks({ service, model, pace }, planned)
  const ordered = planned.toSorted((a, b) => ORDER.indexOf(a.entry.request.method) - ORDER.indexOf(b.entry.request.method))
  const all: EntryWrites[] = []
  for (const each of ordered) {
    await pace.step()
    all.push(await writesOfEntry(each, pace, texts.get(each.entry.index)))
  }
  const add = await answerSize(exchange, { all, reads: reads.length, pace })
  const tried = await tryReads(service, exchange, { reads, read: runner.read, writes: all.flatMap(({ writes }) => writes), add })
  checkpoint(exchange.ctx)
  const results = await writeAll(exchange, all)
  const answers = new Map<number, Answer>()
  for (const { entry, exchange: own, plan, writes } of all)
    answers.set(
      entry.index,
      await answerToPlan(service, own, { plan, writes, results: writes.flatMap((write) => results.get(write) ?? []) }),
    )
  return { answers, tried }
}

interface SizedAnswer {
  readonly all: readonly EntryWrites[]
  readonly reads: number
  readonly pace: Pace
}

/**
 * Checks the size of the answer before anything is written: a transaction whose answer would be too long is not executed.
 *
 * @returns A function that adds the text of a read to the answer. It throws `too-costly` too.
 * @throws {OperationError} `too-costly`; as `Pace.step`.
 */
async function answerSize({ ctx }: Exchange, { all, reads, pace }: SizedAnswer): Promise<(text: string) => void> {
  const reserve = ENVELOPE_BYTES + (all.length + reads) * ENTRY_BYTES
  const advice = 'Send fewer entries, or ask for no content with Prefer: return=minimal.'
  const size = createAnswerSize({ maxBytes: ctx.limits.maxAnswerBytes, advice })
  const add = (text: string): void => size.add(text, reserve)
  for (const one of all) {
    if (returnPreference(one.exchange.request) !== 'minimal') textsOf(one).forEach(add)
    await pace.step()
  }
  return add
}

function textsOf({ plan, writes }: EntryWrites): readonly string[] {
  if (plan.kind === 'found') return [plan.stored.text]
  return writes.flatMap((write) => (write.op === 'put' ? [write.text] : []))
}

async function writesOfEntry(planned: PlannedEntry, pace: Pace, text: string | undefined): Promise<EntryWrites> {
  try {
    return { ...planned, writes: await writesOf(planned.plan, pace, text) }
  } catch (error) {
    throw entryError(planned.entry.index, error)
  }
}

async function writeAll({ ctx }: Exchange, all: readonly EntryWrites[]): Promise<ReadonlyMap<WriteEntry, WriteResult>> {
  const writes = all.flatMap((one) => one.writes)
  if (writes.length === 0) return new Map()
  try {
    const results = await ctx.storage.write(writes)
    return new Map(results.flatMap((result, index) => (writes[index] === undefined ? [] : [[writes[index], result] as const])))
  } catch (error) {
    if (error instanceof OperationError && error.code === 'version-conflict') throw await whoseVersion(ctx, all, error)
    throw error
  }
}

/** Finds the entry whose version conflicts, by reading each: the storage only reports that some version is not the expected one. */
async function whoseVersion({ storage }: Exchange['ctx'], all: readonly EntryWrites[], error: OperationError): Promise<OperationError> {
  for (const { entry, write } of all.flatMap(({ entry: own, writes }) => writes.map((one) => ({ entry: own, write: one })))) {
    if (write.ifVersion === undefined) continue
    const current = await storage.read(write.type, write.id)
    if ((current?.versionId ?? null) !== write.ifVersion) return entryError(entry.index, error)
  }
  return error
}
