import { createPace } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { createAnswerSize } from '../../http/answer-size.js'
import { failureAnswer } from '../../failure.js'
import { fhirText, type Answer } from '../../http/answer.js'
import type { Call } from '../../routes/route.js'
import type { Service } from '../../service.js'
import { criteriaText } from '../criteria.js'
import type { WritePlan } from '../write-plan.js'
import { createBundleWriter } from '../bundle-text.js'
import { responseEntry } from './bundle-response.js'
import { bundleParts, type BundlePart } from './bundle-part.js'
import { entryError } from './entry-error.js'
import type { PartRunner, PlanPart, ServePart } from './part-runner.js'
import { ENTRY_BYTES, ENVELOPE_BYTES, writeTogether, type PlannedEntry } from './write-together.js'

/**
 * Carries all writes of a transaction out, or none: deletions, then creates, then updates; after them reads and searches, which see what
 * was written, and each of which may fail by itself. References to other entries by their `fullUrl` become references to what was stored.
 *
 * @throws {OperationError} `not-supported` when the storage cannot write several resources at once; else that of the first entry that
 *   cannot be done, with its place.
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
export async function runTransaction(service: Service, call: Call, { serve, plan }: PartRunner): Promise<Answer> {
  const { model } = checkCapable(call)
  const parts = await bundleParts(service, call)
  const [reads, writes] = [parts.filter(isRead), parts.filter((part) => !isRead(part))]
  checkCriteria(writes)
  const answers = await service.writeTurns(criteriaTypes(writes), async () =>
    writeTogether(service, call, { planned: await planAll(call, writes, plan), model, reads: reads.length }),
  )
  const entries = await readAll(service, call, {
    reads,
    serve,
    entries: new Map([...answers].map(([at, answer]) => [at, responseEntry(answer)])),
  })
  const response = createBundleWriter(call.ctx, { type: 'transaction-response' }, '')
  for (const { index } of parts) response.add(entries.get(index) ?? '{}')
  return fhirText(200, response.text())
}

interface Reading {
  readonly reads: readonly BundlePart[]
  readonly serve: ServePart
  /** The entries of the writes, by their place. */
  readonly entries: ReadonlyMap<number, string>
}

/** Adds the entries of the reads. What was written stays, so one that is too long for the rest of the answer says so in its place. */
async function readAll(service: Service, call: Call, { reads, serve, entries }: Reading): Promise<ReadonlyMap<number, string>> {
  const all = new Map(entries)
  const size = createAnswerSize({ maxBytes: call.ctx.limits.maxAnswerBytes, advice: '' })
  for (const entry of all.values()) size.add(entry)
  const refusal = responseEntry(refusalOf(service))
  for (const [place, { index, request }] of reads.entries()) {
    const entry = responseEntry(await serve(request, call))
    const rest = ENVELOPE_BYTES + (reads.length - place - 1) * ENTRY_BYTES
    const isTaken = size.takes(entry, rest)
    if (!isTaken) size.add(refusal)
    all.set(index, isTaken ? entry : refusal)
  }
  return all
}

function refusalOf({ ctx, realm }: Service): Answer {
  const error = new OperationError('too-costly', 'The answer to the transaction has no room for this entry; read it by itself.')
  return failureAnswer(error, { family: 'fhir', realm, newId: ctx.newId })
}

function checkCapable({ ctx }: Call): { readonly model: TypeModel } {
  const { search, storage } = ctx
  if (storage.capabilities.atomic && search !== undefined) return { model: search.parameters.model }
  throw new OperationError('not-supported', 'Bundles of the type transaction are not supported here; send a batch.')
}

function isRead({ request }: BundlePart): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

/** Two entries with the same criteria could not see each other: both would create. */
function checkCriteria(writes: readonly BundlePart[]): void {
  const known = new Set<string>()
  for (const part of writes) {
    const key = criteriaKey(part)
    if (key === undefined) continue
    if (known.has(key)) throw entryError(part.index, new OperationError('body-structure', 'Another entry has the same criteria.'))
    known.add(key)
  }
}

/** `Type?criteria`; `undefined` for an entry without. */
function criteriaKey({ request }: BundlePart): string | undefined {
  if (request.method !== 'POST') return request.target.includes('?') ? request.target : undefined
  const criteria = request.header('if-none-exist')
  return criteria === undefined ? undefined : `${request.target}?${criteriaText(request.target, criteria)}`
}

/** The types that entries have criteria for. */
function criteriaTypes(writes: readonly BundlePart[]): readonly string[] {
  const types = writes.map(criteriaKey).map((key) => key?.split(/[/?]/, 1)[0])
  return [...new Set(types)].filter((type) => type !== undefined)
}

async function planAll(call: Call, writes: readonly BundlePart[], plan: PlanPart): Promise<readonly PlannedEntry[]> {
  const planned: PlannedEntry[] = []
  const taken = new Set<string>()
  const pace = createPace(call.ctx)
  for (const part of writes) {
    pace.check()
    if (pace.due()) await pace.pause()
    try {
      const made = await plan(part.request, call)
      checkDistinct(taken, made.plan)
      planned.push({ part, ...made })
    } catch (error) {
      throw entryError(part.index, error)
    }
  }
  return planned
}

function checkDistinct(taken: Set<string>, plan: WritePlan): void {
  for (const { type, id } of plan.kind === 'delete' ? plan.entries : [plan]) {
    const address = `${type}/${id}`
    if (taken.has(address)) throw new OperationError('body-structure', `Another entry is about ${address}, too.`)
    taken.add(address)
  }
}
