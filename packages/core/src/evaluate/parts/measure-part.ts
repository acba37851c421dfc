import { createPace, type OperationContext } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import { checkOptions } from '../../input/index.js'
import { mergeCounts, type LanguageGroups } from '../counts.js'
import {
  EVALUATE_OPTIONS,
  reportRun,
  prepareRun,
  type EvaluateMeasureInput,
  type EvaluateMeasureOptions,
  type MeasureRun,
} from '../evaluate-measure.js'
import { canonicalOfMeasure } from '../find-measure.js'
import { MAX_FAILURES, type MeasureCounts } from '../languages/index.js'
import { membershipsOf } from '../membership.js'
import type { EvaluateMeasureResult } from '../result.js'
import { groupTotal, supplementTotal } from '../totals/group-total.js'
import { compareText, type MeasureSums } from '../totals/sums.js'
import { checkedParts, type CountsOfPart, type MeasurePart } from './read-part.js'
import { checkPart, hashOf, type SubjectsPart } from '../subject.js'

export type { MeasurePart } from './read-part.js'

/**
 * Evaluates one part of the subjects of a Measure. Parts can be evaluated in separate threads, processes or machines and exchanged as JSON;
 * `mergeMeasureParts` combines all of them into the result of `evaluateMeasure`. The id of a subject alone decides which part it is in. Criteria in CQL
 * are divided; FHIR searches are counted by the storage, for the first part.
 *
 * @param part `{ part: 1, of: 4 }`: the first of four.
 * @returns Plain data, with references to subjects if lists are requested, and observations.
 * @throws {OperationError} as `evaluateMeasure`; `parameter-value` for a part that does not exist; `parameter-unsupported` for the report of one
 *   patient, and with `coverage` and `explain`.
 */
export async function evaluateMeasurePart(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  part: SubjectsPart,
  options: EvaluateMeasureOptions = {},
): Promise<MeasurePart> {
  checkOptions('evaluateMeasurePart', EVALUATE_OPTIONS, options)
  checkPart(part)
  const run = await prepareRun(ctx, input, options)
  checkDivisible(input, run)
  const counts: (CountsOfPart | null)[] = []
  for (const { language, ...own } of run.groups) {
    const isOurs = language.divides === true || part.part === 1
    const scope = { ...run.scope, ...own, ...(language.divides === true && { part }) }
    counts.push(isOurs ? countsIn(await language.evaluate(ctx, scope)) : null)
  }
  return { format: 'measure-part', run: nameOf(run), part: part.part, of: part.of, counts }
}

function checkDivisible({ coverage, explain }: EvaluateMeasureInput, { scope }: MeasureRun): void {
  const of =
    coverage === true ? 'coverage' : explain === true ? 'explain' : scope.subject?.type === scope.subjectType ? 'subject' : undefined
  if (of === undefined) return
  const message = of === 'subject' ? 'The report of one subject has no parts.' : `'${of}' needs an evaluation that is not divided.`
  throw new OperationError('parameter-unsupported', message, { expression: [of] })
}

/** The counts without the causes of failures, which some messages between threads cannot carry. */
function countsIn({ groups, supplements, failures: all = [], failed, sums }: MeasureCounts): CountsOfPart {
  const failures = { failures: all.map(({ subject, message }) => ({ subject, message })), ...(failed !== undefined && { failed }) }
  return sums === undefined ? { groups, ...(supplements !== undefined && { supplements }), ...failures } : { sums, ...failures }
}

/** Identifies the evaluation, so that parts of other evaluations are not merged. */
function nameOf({
  measure,
  composition,
  scope: { period, subject, practitioner, parameters, manifest, continues },
  type,
}: MeasureRun): string {
  const components = (composition?.composites ?? []).flatMap((composite) => composite.components.map((component) => component.measure))
  const all = JSON.stringify([measure, components, subject, practitioner, parameters, manifest, continues])
  return `${canonicalOfMeasure(measure)}, ${period.start} to ${period.end}, ${type} (${hashOf(all).toString(16)})`
}

/**
 * Merges all parts of a Measure into the result of `evaluateMeasure` for the same data. Only the Measure is read from the storage.
 *
 * @param input The input of the parts.
 * @param parts All parts, in any order; the results of `JSON.parse` are accepted, too.
 * @throws {OperationError} as `evaluateMeasure`; `parameter-value` for a value that is not a part, is of another evaluation, missing or given twice, and for
 *   parts that read data so different that they do not fit.
 */
export async function mergeMeasureParts(
  ctx: OperationContext,
  input: EvaluateMeasureInput,
  parts: readonly MeasurePart[],
  options: EvaluateMeasureOptions = {},
): Promise<EvaluateMeasureResult> {
  checkOptions('mergeMeasureParts', EVALUATE_OPTIONS, options)
  const run = await prepareRun(ctx, input, options)
  const all = checkedParts(parts, { name: nameOf(run), languages: run.groups.length })
  const pace = createPace(ctx)
  const counted: MeasureCounts[] = []
  for (const [at, one] of run.groups.entries()) {
    await pace.step()
    counted.push(merged(ctx, one, { run, counts: all.flatMap(({ counts }) => counts[at] ?? []) }))
  }
  return await reportRun(ctx, run, mergeCounts(run.groups, counted))
}

interface Merging {
  readonly run: MeasureRun
  readonly counts: readonly CountsOfPart[]
}

function merged(
  { convertUnit: convert }: OperationContext,
  { groups, supplements }: LanguageGroups,
  { run, counts }: Merging,
): MeasureCounts {
  const failures = counts
    .flatMap((one) => one.failures)
    .toSorted((one, other) => compareText(one.subject, other.subject))
    .slice(0, MAX_FAILURES)
  const sums = counts.flatMap((one) => one.sums ?? [])
  const failed = counts.reduce((sum, one) => sum + (one.failed ?? 0), 0)
  const [whole] = counts
  if (sums.length === 0) return { groups: whole?.groups ?? [], supplements: whole?.supplements, failures }
  checkSums(sums, { groups: groups.length, supplements: supplements.length })
  return {
    groups: groups.map((group, at) => {
      const total = groupTotal(group, membershipsOf(group, 'allowed'), { listed: run.scope.listed === true, convert })
      for (const sum of sums) if (sum.groups[at] !== undefined) total.addSum(sum.groups[at])
      return total.counts()
    }),
    supplements: supplements.map((_, at) => {
      const total = supplementTotal()
      for (const sum of sums) total.addSum(sum.supplements[at] ?? [])
      return { values: total.values(), resources: [] }
    }),
    failures,
    ...(failed > 0 && { failed }),
  }
}

function checkSums(sums: readonly MeasureSums[], expected: { readonly groups: number; readonly supplements: number }): void {
  const fits = sums.every(({ groups, supplements }) => groups.length === expected.groups && supplements.length === expected.supplements)
  const areAlike = new Set(sums.map(({ searched }) => searched)).size === 1
  if (fits && areAlike) return
  throw new OperationError(
    'parameter-value',
    'The parts do not fit together: what they read was changed between them. Evaluate them again.',
    {
      expression: ['parts'],
    },
  )
}
