import type { StratumValue, GroupTotal, SubjectResult } from 'fhir-ops/internal/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import type { Scope } from 'fhir-ops/evaluate'
import type { SubjectRecords } from '../data/population.js'
import { createEvaluation } from '../libraries/evaluate.js'
import { referenceOf } from './items.js'
import type { Prepared } from './prepare.js'
import { subjectResult, type CompiledGroup } from './subject-result.js'
import type { EvaluatedSupplement } from './supplements.js'

/** Everything of a Measure, ready to add up subjects. */
export interface MeasureWork {
  readonly scope: Scope
  readonly groups: readonly { readonly compiled: CompiledGroup; readonly total: GroupTotal; readonly initial: readonly number[] }[]
  readonly supplements: readonly EvaluatedSupplement[]
  readonly prepared: Prepared
}

/** What one subject contributes to a Measure. */
export interface Contribution {
  /** In the order of the groups. */
  readonly results: readonly SubjectResult[]
  /** For each supplement its values by their JSON; empty for who is in no initial population. */
  readonly supplements: readonly ReadonlyMap<string, StratumValue>[]
}

/** A contribution, and whether it would be another one at another time. */
export interface TimedContribution {
  readonly contribution: Contribution
  readonly usesNow: boolean
}

/** How subjects are evaluated. */
export interface SubjectOptions {
  readonly maxSteps: number
  /** References of what the evaluation of a single subject read. */
  readonly read: Set<string>
}

/** Evaluates one subject after the other. */
export function subjectEvaluator(
  ctx: OperationContext,
  { scope, groups, supplements, prepared: { offset } }: MeasureWork,
  { maxSteps, read }: SubjectOptions,
): (subject: SubjectRecords) => Promise<TimedContribution> {
  const isIndividual = scope.individual === true
  const options = { individual: isIndividual, everything: isIndividual || scope.coverage === true }
  return async ({ subject, records }) => {
    let usesNow = false
    const evaluation = createEvaluation({
      subject,
      now: ctx.now(),
      offset,
      maxSteps,
      onNow: () => (usesNow = true),
      retrieve: (request) => {
        const found = records.retrieve(request)
        if (isIndividual) for (const resource of found) read.add(referenceOf(resource))
        return found
      },
    })
    const evaluated = records.evaluate(() => groups.map(({ compiled }) => subjectResult(compiled, evaluation, options)))
    const results = evaluated instanceof Promise ? await evaluated : evaluated
    const own: ReadonlyMap<string, StratumValue>[] = []
    if (supplements.length > 0 && isInitial(groups, results))
      for (const supplement of supplements) own.push(await records.evaluate(() => supplement.valuesOf(evaluation)))
    return { contribution: { results, supplements: own }, usesNow }
  }
}

/** Supplemental data is that of the initial populations; of everybody where the Measure has none. */
function isInitial(groups: MeasureWork['groups'], results: readonly SubjectResult[]): boolean {
  return results.some(({ members }, index) => {
    const { initial = [] } = groups[index] ?? {}
    return initial.length === 0 || initial.some((population) => (members[population]?.length ?? 0) > 0)
  })
}

/** Adds what a subject contributes to the totals. */
export function addContribution({ groups, supplements }: MeasureWork, id: string, contribution: Contribution): void {
  for (const [index, result] of contribution.results.entries()) groups[index]?.total.add(id, result)
  for (const [index, values] of contribution.supplements.entries()) supplements[index]?.add(id, values)
}

/** The same for so many subjects, who are members themselves and of whom nothing else is counted. */
export function addAlike({ groups }: MeasureWork, { results }: Contribution, subjects: number): void {
  for (const [index, { members }] of results.entries()) groups[index]?.total.addCounts(members.map(({ length }) => length * subjects))
}
