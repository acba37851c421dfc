import { OperationError } from '../../errors/index.js'
import { isObject, isString } from '../../json/index.js'
import type { GroupCounts, SubjectFailure, SupplementValues } from '../languages/index.js'
import type {
  Stratum,
  StratumValue,
  Tally,
  Amount,
  GroupSum,
  MeasureSums,
  PopulationSums,
  SumOfStratum,
  SumOfValue,
} from '../totals/sums.js'
import { checkPart, type SubjectsPart } from '../subject.js'

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
export interface CountsOfPart {
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
export function checkedParts(
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
