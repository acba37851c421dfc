import { checkpoint, createPace } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { WriteEntry, WriteResult } from 'fhir-ops/storage'
import { mapped, paced, type Work } from 'fhir-ops/work'
import type { Answer } from '../../http/answer.js'
import type { Call } from '../../routes/route.js'
import type { Service } from '../../service.js'
import { createAnswerSize } from '../../http/answer-size.js'
import { planAnswer } from '../carry-out.js'
import { returnPreference } from '../preference.js'
import { entriesOf } from '../write-plan.js'
import type { BundlePart } from './bundle-part.js'
import { entryError } from './entry-error.js'
import type { PlannedWrite } from './part-runner.js'
import { textsWithLinks } from './transaction-links.js'

/** An entry of a transaction whose resource is known. */
export interface PlannedEntry extends PlannedWrite {
  readonly part: BundlePart
}

interface Transaction {
  readonly planned: readonly PlannedEntry[]
  readonly model: TypeModel
  /** How many reads follow, each of which is in the answer, too. */
  readonly reads: number
}

interface Step extends PlannedEntry {
  readonly entries: readonly WriteEntry[]
}

/** What an entry of the answer has beside its resource, at most. */
export const ENTRY_BYTES = 1_000
/** What the answer has beside its entries, at most. */
export const ENVELOPE_BYTES = 1_000

/** The order of R4, for storages that look at it. */
const ORDER: readonly string[] = ['DELETE', 'POST', 'PUT']

/** Writes all planned entries in one go, their links resolved; the answers by the place of their entries. */
export async function writeTogether(service: Service, call: Call, { planned, model, reads }: Transaction): Promise<Map<number, Answer>> {
  const pace = createPace(call.ctx)
  const texts = await textsWithLinks({ service, model, pace }, planned)
  const ordered = planned.toSorted((a, b) => ORDER.indexOf(a.part.request.method) - ORDER.indexOf(b.part.request.method))
  const steps = await paced(
    mapped(ordered, (each) => stepOf(each, texts.get(each.part.index))),
    pace,
  )
  checkAnswerSize(call, steps, reads)
  checkpoint(call.ctx)
  const results = await writeSteps(call, steps)
  return new Map(
    steps.map(({ part, call: own, plan, entries }) => [
      part.index,
      planAnswer(service, own, { plan, entries, results: entries.flatMap((entry) => results.get(entry) ?? []) }),
    ]),
  )
}

/** Before anything is written: what could not be answered is not done. @throws {OperationError} `too-costly` */
function checkAnswerSize({ ctx }: Call, steps: readonly Step[], reads: number): void {
  const reserve = ENVELOPE_BYTES + (steps.length + reads) * ENTRY_BYTES
  const advice = 'Send fewer entries, or ask for no content with Prefer: return=minimal.'
  const size = createAnswerSize({ maxBytes: ctx.limits.maxAnswerBytes, advice })
  for (const step of steps) if (returnPreference(step.call.request) !== 'minimal') for (const text of textsOf(step)) size.add(text, reserve)
}

function textsOf({ plan, entries }: Step): readonly string[] {
  if (plan.kind === 'found') return [plan.stored.text]
  return entries.flatMap((entry) => (entry.op === 'put' ? [entry.text] : []))
}

function* stepOf(planned: PlannedEntry, text: string | undefined): Work<Step> {
  try {
    return { ...planned, entries: yield* entriesOf(planned.plan, text) }
  } catch (error) {
    throw entryError(planned.part.index, error)
  }
}

async function writeSteps({ ctx }: Call, steps: readonly Step[]): Promise<ReadonlyMap<WriteEntry, WriteResult>> {
  const entries = steps.flatMap((step) => step.entries)
  if (entries.length === 0) return new Map()
  try {
    const results = await ctx.storage.write(entries)
    return new Map(results.flatMap((result, index) => (entries[index] === undefined ? [] : [[entries[index], result] as const])))
  } catch (error) {
    if (error instanceof OperationError && error.code === 'version-conflict') throw await whoseVersion(ctx, steps, error)
    throw error
  }
}

/** The storage says that a version is not the expected one; a look at each tells whose. */
async function whoseVersion({ storage }: Call['ctx'], steps: readonly Step[], error: OperationError): Promise<OperationError> {
  for (const { part, entry } of steps.flatMap(({ entries, ...step }) => entries.map((one) => ({ ...step, entry: one })))) {
    if (entry.ifVersion === undefined) continue
    const current = await storage.read(entry.type, entry.id)
    if ((current?.versionId ?? null) !== entry.ifVersion) return entryError(part.index, error)
  }
  return error
}
