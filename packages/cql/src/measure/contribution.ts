import {
  stratumKey,
  supplementTotal,
  type StratumValue,
  type GroupTotal,
  type SubjectResult,
  type SumOfValue,
  type SupplementValues,
} from 'fhir-ops/internal/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import type { Scope } from 'fhir-ops/evaluate'
import type { SubjectRecords } from '../data/population.js'
import type { Records } from '../data/records.js'
import type { Evaluation } from '../compile/compiler.js'
import { createEvaluations } from '../libraries/evaluate.js'
import { writingSteps } from '../values/size.js'
import { literalText } from '../values/text.js'
import { isFhir, isList } from '../values/value.js'
import { referenceOf } from '../model/fhir-types.js'
import type { Prepared } from './prepare.js'
import { subjectResult, type CompiledGroup } from './subject-result.js'
import type { CompiledCriterion } from './criterion.js'
import { stratumValueOf } from './values.js'

/** A compiled Measure with the totals to which subjects are added. */
export interface MeasureWork {
  readonly scope: Scope
  readonly groups: readonly { readonly compiled: CompiledGroup; readonly total: GroupTotal; readonly initial: readonly number[] }[]
  readonly supplements: readonly EvaluatedSupplement[]
  readonly prepared: Prepared
}

/** The contribution of one subject to a Measure. */
export interface Contribution {
  /** In the order of the groups. */
  readonly results: readonly SubjectResult[]
  /** For each supplement its values by their JSON; empty for a subject in no initial population. */
  readonly supplements: readonly ReadonlyMap<string, StratumValue>[]
}

/** A contribution, and whether it depends on the time of the evaluation. */
export interface TimedContribution {
  readonly contribution: Contribution
  readonly usesNow: boolean
}

/** Options of `subjectEvaluator`. */
interface SubjectOptions {
  readonly maxSteps: number
  /** References of the resources that the evaluation of a single subject read. */
  readonly read: Set<string>
}

/** Returns a function that evaluates a subject; its result is not a promise if all needed resources were already read. */
export function subjectEvaluator(
  ctx: OperationContext,
  work: MeasureWork,
  { maxSteps, read }: SubjectOptions,
): (subject: SubjectRecords) => Promise<TimedContribution> | TimedContribution {
  const { scope, groups, supplements, prepared } = work
  const isIndividual = scope.individual === true
  const options = { individual: isIndividual, everything: isIndividual || scope.coverage === true }
  let usesNow = false
  const { offset, given } = prepared
  const evaluationOf = createEvaluations({ now: () => ctx.now(), offset, given, maxSteps, onNow: () => (usesNow = true) })
  const retrieveFrom = ({ retrieve }: Records): Records['retrieve'] => {
    if (!isIndividual) return retrieve
    return (request) => {
      const found = retrieve(request)
      for (const resource of found) read.add(referenceOf(resource))
      return found
    }
  }
  return ({ subject, records }) => {
    usesNow = false
    const { sift, keptValues } = records
    const evaluation = evaluationOf({ subject, retrieve: retrieveFrom(records), ...(!isIndividual && { sift, keptValues }) })
    const evaluated = records.evaluate(() => groups.map(({ compiled }) => subjectResult(compiled, evaluation, options)))
    if (!(evaluated instanceof Promise) && supplements.length === 0)
      return { contribution: { results: evaluated, supplements: NO_SUPPLEMENTS }, usesNow }
    return supplemented(work, { records, evaluation, evaluated }).then((contribution) => ({ contribution, usesNow }))
  }
}

const NO_SUPPLEMENTS: Contribution['supplements'] = []

interface EvaluatedSubject {
  readonly records: Records
  readonly evaluation: Evaluation
  readonly evaluated: Promise<Contribution['results']> | Contribution['results']
}

async function supplemented(
  { groups, supplements }: MeasureWork,
  { records, evaluation, evaluated }: EvaluatedSubject,
): Promise<Contribution> {
  const results = await evaluated
  const own: ReadonlyMap<string, StratumValue>[] = []
  if (supplements.length > 0 && isInitial(groups, results))
    for (const supplement of supplements) own.push(await records.evaluate(() => supplement.valuesOf(evaluation)))
  return { results, supplements: own }
}

/** Whether a subject's supplemental data counts: it is in an initial population, or the Measure has none. */
function isInitial(groups: MeasureWork['groups'], results: readonly SubjectResult[]): boolean {
  return results.some(({ members }, index) => {
    const { initial = [] } = groups[index] ?? {}
    return initial.length === 0 || initial.some((population) => (members[population]?.length ?? 0) > 0)
  })
}

/** Adds the contribution of a subject to the totals. */
export function addContribution({ groups, supplements }: MeasureWork, id: string, contribution: Contribution): void {
  for (const [index, result] of contribution.results.entries()) groups[index]?.total.add(id, result)
  for (const [index, values] of contribution.supplements.entries()) supplements[index]?.add(id, values)
}

/** Adds the same contribution for a number of subjects that are members themselves and of which nothing else is counted. */
export function addAlike({ groups }: MeasureWork, { results }: Contribution, subjects: number): void {
  for (const [index, { members }] of results.entries()) groups[index]?.total.addCounts(members.map(({ length }) => length * subjects))
}

/** Supplemental data or a risk adjustment factor, with the total of its values for subjects. */
export interface EvaluatedSupplement {
  /** The values of one subject, by `stratumKey`. */
  valuesOf(evaluation: Evaluation): ReadonlyMap<string, StratumValue>
  add(subject: string, values: ReadonlyMap<string, StratumValue>): void
  sum(): readonly SumOfValue[]
  values(): SupplementValues
}

/**
 * Creates the total of one of the Measure's supplements. Null does not count; a value that a subject has twice counts once; resources are named only for a
 * single subject.
 */
export function evaluatedSupplement(
  criterion: CompiledCriterion,
  { prepared, individual }: { readonly prepared: Prepared; readonly individual: boolean },
): EvaluatedSupplement {
  const { model, offset } = prepared
  const total = supplementTotal()
  const resources = new Set<string>()
  return {
    valuesOf: (evaluation) => {
      const value = criterion.ofSubject?.(evaluation) ?? criterion.ofItem?.(evaluation, evaluation.subject) ?? null
      const own = new Map<string, StratumValue>()
      for (const item of isList(value) ? value : [value]) {
        if (item === null) continue
        if (!isFhir(item) || item.type.kind !== 'resource') {
          evaluation.spend(writingSteps(item))
          const made = stratumValueOf(item, { model, offset }) ?? { concept: { text: literalText(item) } }
          const key = stratumKey(made)
          own.set(key, own.get(key) ?? made)
        } else if (individual) resources.add(referenceOf(item))
      }
      return own
    },
    add: (subject, values) => total.add(subject, values),
    sum: () => total.sum(),
    values: () => ({ values: total.values(), resources: [...resources] }),
  }
}
