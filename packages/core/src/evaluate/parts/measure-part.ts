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
import { MAX_FAILURES, type MeasureCounts, type GroupCounts, type SubjectFailure, type SupplementValues } from '../languages/index.js'
import { membershipsOf } from '../membership.js'
import type { EvaluateMeasureResult } from '../result.js'
import { groupTotal, supplementTotal } from '../totals/group-total.js'
import {
  compareText,
  type MeasureSums,
  type Stratum,
  type StratumValue,
  type Tally,
  type Amount,
  type GroupSum,
  type PopulationSums,
  type SumOfStratum,
  type SumOfValue,
} from '../totals/sums.js'
import { checkPart, hashOf, type SubjectsPart } from '../subject.js'
import { isObject, isString } from '../../json/index.js'

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

/**
 * The result of one part of the subjects of a Measure: plain data. Created by `evaluateMeasurePart` for `mergeMeasureParts`; its content may change
 * with any version.
 */
export interface MeasurePart extends SubjectsPart {
  readonly format: 'measure-part'
  /** Identifies the evaluation. */
  readonly run: string
  /** The counts of each criteria language. */
  readonly counts: readonly unknown[]
}

/** A part that was checked. */
interface CheckedPart extends MeasurePart {
  /** Null when the first part counts for all. */
  readonly counts: readonly (CountsOfPart | null)[]
}

/** Sums of a language that divides, or the whole counts of one that does not. */
interface CountsOfPart {
  readonly sums?: MeasureSums
  readonly groups?: readonly GroupCounts[]
  readonly supplements?: readonly SupplementValues[] | undefined
  readonly failures: readonly SubjectFailure[]
  readonly failed?: number
}

/**
 * Checks that the parts of an evaluation are complete.
 *
 * @throws {OperationError} `parameter-value` for a value that is not a part, is of another evaluation, missing or given twice.
 */
function checkedParts(
  given: readonly unknown[],
  { name, languages }: { readonly name: string; readonly languages: number },
): readonly CheckedPart[] {
  const parts = given.map((one, index) => {
    if (!isMeasurePart(one) || one.counts.length !== languages) throw refused(`parts[${index}] is not what evaluateMeasurePart returns.`)
    checkPart(one, 'parts')
    if (one.run !== name) throw refused(`Part ${one.part} is of another evaluation: of ${one.run}, not of ${name}.`)
    return one
  })
  const of = parts[0]?.of ?? 1
  const odd = parts.find((one) => one.of !== of)
  if (odd !== undefined) throw refused(`Part ${odd.part} is one of ${odd.of}, another one of ${of}.`)
  for (let part = 1; part <= of; part++) {
    const found = parts.filter((one) => one.part === part).length
    if (found !== 1) throw refused(`Part ${part} of ${of} is ${found === 0 ? 'missing' : 'given twice'}.`)
  }
  return parts
}

function refused(message: string): OperationError {
  return new OperationError('parameter-value', message, { expression: ['parts'] })
}

function isMeasurePart(value: unknown): value is CheckedPart {
  return (
    isObject(value) &&
    value['format'] === 'measure-part' &&
    isString(value['run']) &&
    isNumber(value['part']) &&
    isNumber(value['of']) &&
    isListOf(value['counts'], (one): one is CountsOfPart | null => one === null || isCounts(one))
  )
}

function isCounts(value: unknown): value is CountsOfPart {
  if (!isObject(value)) return false
  const { sums, groups, supplements } = value
  return (
    isListOf(value['failures'], isFailure) &&
    (value['failed'] === undefined || isCount(value['failed'])) &&
    (sums === undefined ? isListOf(groups, isGroupCounts) : isSums(sums)) &&
    (supplements === undefined || isListOf(supplements, isSupplement))
  )
}

function isSums(value: unknown): value is MeasureSums {
  return (
    isObject(value) &&
    isString(value['searched']) &&
    isListOf(value['groups'], isGroupSum) &&
    isListOf(value['supplements'], (one) => isListOf(one, isSumOfValue))
  )
}

function isGroupSum(value: unknown): value is GroupSum {
  return isPopulationSums(value) && 'strata' in value && isListOf(value.strata, (one) => isListOf(one, isSumOfStratum))
}

function isPopulationSums(value: unknown): value is PopulationSums {
  return (
    isObject(value) &&
    isListOf(value['counts'], isCount) &&
    (value['members'] === undefined || isListOf(value['members'], isTexts)) &&
    isListOf(value['observations'], (one) => isListOf(one, isAmount))
  )
}

function isSumOfStratum(value: unknown): value is SumOfStratum {
  return (
    isPopulationSums(value) &&
    'key' in value &&
    isString(value.key) &&
    'first' in value &&
    isFirst(value.first) &&
    (!('values' in value) || isValues(value.values))
  )
}

function isSumOfValue(value: unknown): value is SumOfValue {
  return isObject(value) && isString(value['key']) && isCount(value['count']) && isFirst(value['first']) && isStratumValue(value['value'])
}

function isFirst(value: unknown): boolean {
  return isObject(value) && isString(value['subject']) && isNumber(value['place'])
}

function isGroupCounts(value: unknown): value is GroupCounts {
  return (
    isObject(value) &&
    isListOf(value['populations'], isTally) &&
    isListOf(value['strata'], (one) => isListOf(one, isStratum)) &&
    isScore(value['score'])
  )
}

function isStratum(value: unknown): value is Stratum {
  return isObject(value) && isValues(value['values']) && isListOf(value['populations'], isTally) && isScore(value['score'])
}

function isTally(value: unknown): value is Tally {
  return isObject(value) && isCount(value['count']) && (value['members'] === undefined || isTexts(value['members']))
}

function isSupplement(value: unknown): value is SupplementValues {
  const isOne = (one: unknown): boolean => isObject(one) && isCount(one['count']) && isStratumValue(one['value'])
  return isObject(value) && isTexts(value['resources']) && isListOf(value['values'], isOne)
}

function isFailure(value: unknown): value is SubjectFailure {
  return isObject(value) && isString(value['subject']) && isString(value['message'])
}

function isValues(value: unknown): boolean {
  return value === undefined || isListOf(value, isStratumValue)
}

function isStratumValue(value: unknown): value is StratumValue {
  return isObject(value) && isObject(value['concept']) && (value['quantity'] === undefined || isObject(value['quantity']))
}

function isAmount(value: unknown): value is Amount {
  return isNumber(value) || (isObject(value) && isNumber(value['value']) && isString(value['unit']))
}

function isScore(value: unknown): boolean {
  return value === undefined || isNumber(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return isListOf(value, isString)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && isNumber(value) && value >= 0
}

function isListOf(value: unknown, is: (one: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every((one) => is(one))
}
