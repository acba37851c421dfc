import { compareQuantities, compareTemporals, decimalOf, isUncertain, rangeOf, compare } from './compare.js'
import { compareDecimals, placesOf, roundDecimal, type Decimal } from './decimal.js'
import { endOf, startOf } from './interval.js'
import { jsonText } from './json-text.js'
import { factorBetween, type UnitConversion } from './units.js'
import {
  isCode,
  isConcept,
  isFhir,
  isInterval,
  isList,
  isQuantity,
  isRatio,
  isTemporal,
  isTuple,
  isVocabulary,
  kindOf,
  type Code,
  type Interval,
  type Quantity,
  type Ratio,
  type Value,
} from './value.js'

/**
 * `a = b` in three-valued logic (CQL reference, Equal).
 *
 * Lists are compared by position, tuples by element.
 */
export function equal(a: Value, b: Value, convert: UnitConversion): boolean | null {
  if (a === null || b === null) return null
  if (typeof a !== 'object' && typeof a === typeof b) return a === b
  if (isUncertain(a) || isUncertain(b)) return equalRanges(a, b, convert)
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return equalNumbers(a, b, convert)
  if (isTemporal(a) && isTemporal(b)) return isZeroOrder(compareTemporals(a, b))
  return Object.hasOwn(EQUAL, kind) ? (EQUAL[kind]?.(a, b, convert) ?? null) : equalNumbers(a, b, convert)
}

type Equality = (a: Value, b: Value, convert: UnitConversion) => boolean | null

/** Equality of two values of one kind. */
const EQUAL: Readonly<Record<string, Equality>> = {
  list: (a, b, convert) => {
    if (!isList(a) || !isList(b)) return null
    return a.length === b.length ? equalItems(a, b, convert) : false
  },
  interval: (a, b, convert) =>
    isInterval(a) && isInterval(b) ? all([equal(startOf(a), startOf(b), convert), equal(endOf(a), endOf(b), convert)]) : null,
  tuple: (a, b, convert) => (isTuple(a) && isTuple(b) ? equalTuples(a.elements, b.elements, convert) : null),
  quantity: (a, b, convert) => (isQuantity(a) && isQuantity(b) ? isZeroOrder(compareQuantities(a, b, convert)) : null),
  ratio: (a, b, convert) =>
    isRatio(a) && isRatio(b) ? all([equal(a.numerator, b.numerator, convert), equal(a.denominator, b.denominator, convert)]) : null,
  code: (a, b, convert) => (isCode(a) && isCode(b) ? equalMembers(codeMembers(a), codeMembers(b), convert) : null),
  concept: (a, b, convert) =>
    isConcept(a) && isConcept(b) ? all([equal(a.codes, b.codes, convert), equalElements(a.display, b.display, convert)]) : null,
  fhir: (a, b) => (isFhir(a) && isFhir(b) ? a.json === b.json || sameJson(a.json, b.json) : null),
  valueSet: sameVocabulary,
  codeSystem: sameVocabulary,
}

function sameVocabulary(a: Value, b: Value): boolean | null {
  return isVocabulary(a) && isVocabulary(b) ? a.id === b.id && a.version === b.version : null
}

function equalNumbers(a: Value, b: Value, convert: UnitConversion): boolean | null {
  if (decimalOf(a) === undefined || decimalOf(b) === undefined) return false
  return isZeroOrder(compare(a, b, convert))
}

/** Compares by position: false if any items differ, otherwise null if the equality of any is unknown. */
function equalItems(a: readonly Value[], b: readonly Value[], convert: UnitConversion): boolean | null {
  let isKnown = true
  for (let index = 0; index < a.length; index++) {
    const result = equalElements(a[index] ?? null, b[index] ?? null, convert)
    if (result === false) return false
    if (result === null) isKnown = false
  }
  return isKnown ? true : null
}

/** Elements that are both null are equal; if only one is null, the result is unknown. */
function equalElements(a: Value, b: Value, convert: UnitConversion): boolean | null {
  return a === null && b === null ? true : equal(a, b, convert)
}

function codeMembers({ code, system, version, display }: Code): readonly Value[] {
  return [code, system, version, display]
}

function equalMembers(a: readonly Value[], b: readonly Value[], convert: UnitConversion): boolean | null {
  for (const [index, member] of a.entries()) {
    const result = equalElements(member, b[index] ?? null, convert)
    if (result !== true) return result
  }
  return true
}

/** The first element that differs or is null on one side only determines the result. */
function equalTuples(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>, convert: UnitConversion): boolean | null {
  for (const [name, element] of a) {
    const result = equalElements(element, b.get(name) ?? null, convert)
    if (result !== true) return result
  }
  for (const [name, element] of b) if (!a.has(name) && element !== null) return null
  return true
}

function equalRanges(a: Value, b: Value, convert: UnitConversion): boolean | null {
  const [[aLow, aHigh], [bLow, bHigh]] = [rangeOf(a), rangeOf(b)]
  if (compare(aHigh, bLow, convert) === -1 || compare(aLow, bHigh, convert) === 1) return false
  const isPoint = compare(aLow, aHigh, convert) === 0 && compare(bLow, bHigh, convert) === 0
  return isPoint && compare(aLow, bLow, convert) === 0 ? true : null
}

/** `a ~ b`: never null, and two nulls are equivalent (CQL reference, Equivalent). */
export function equivalent(a: Value, b: Value, convert: UnitConversion): boolean {
  if (a === null || b === null) return a === b
  if (typeof a === 'number' && typeof b === 'number') return a === b
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b
  if (isConcept(a) || isConcept(b)) return equivalentCodes(codesOf(a), codesOf(b))
  const [first, second] = [decimalOf(a), decimalOf(b)]
  if (first !== undefined && second !== undefined) return equivalentDecimals(first, second)
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return false
  return Object.hasOwn(EQUIVALENT, kind) ? (EQUIVALENT[kind]?.(a, b, convert) ?? false) : equal(a, b, convert) === true
}

/** Equivalence of two values of one kind, for kinds where it differs from equality. */
const EQUIVALENT: Readonly<Record<string, (a: Value, b: Value, convert: UnitConversion) => boolean>> = {
  string: (a, b) => typeof a === 'string' && typeof b === 'string' && plainText(a) === plainText(b),
  list: (a, b, convert) =>
    isList(a) && isList(b) && a.length === b.length && a.every((item, index) => equivalent(item, b[index] ?? null, convert)),
  code: (a, b) => equivalentCodes(codesOf(a), codesOf(b)),
  tuple: (a, b, convert) => isTuple(a) && isTuple(b) && equivalentTuples(a.elements, b.elements, convert),
  interval: (a, b, convert) => isInterval(a) && isInterval(b) && equivalentIntervals(a, b, convert),
  quantity: (a, b, convert) => isQuantity(a) && isQuantity(b) && compareQuantities(a, b, convert, true) === 0,
  ratio: (a, b, convert) => isRatio(a) && isRatio(b) && equivalentRatios(a, b, convert),
}

/** Compares at the precision of the less precise decimal, without trailing zeros. */
function equivalentDecimals(a: Decimal, b: Decimal): boolean {
  if (a.units === b.units) return true
  const places = Math.min(placesOf(a.units), placesOf(b.units))
  const [first, second] = [roundDecimal(a, places), roundDecimal(b, places)]
  return first !== undefined && second !== undefined && compareDecimals(first, second) === 0
}

function equivalentRatios(a: Ratio, b: Ratio, convert: UnitConversion): boolean {
  const [above, below] = [amountsOf(a.numerator, b.numerator, convert), amountsOf(a.denominator, b.denominator, convert)]
  if (above === undefined || below === undefined) return false
  const [one, other] = [above.one * below.other, above.other * below.one]
  return Math.abs(one - other) <= Math.abs(one) * 1e-12
}

/** Two amounts in the unit of the second; `undefined` if a ratio lacks one, or if their units are not of one kind. */
function amountsOf(a: Quantity | null, b: Quantity | null, convert: UnitConversion): { one: number; other: number } | undefined {
  if (a === null || b === null) return undefined
  const factor = factorBetween(convert, a.unit, b.unit, true)
  return factor === undefined ? undefined : { one: Number(a.value.units) * factor, other: Number(b.value.units) }
}

/** Number of pairs of codes up to which comparing each is faster than building a set. */
const FEW_PAIRS = 64

function equivalentCodes(a: readonly Code[], b: readonly Code[]): boolean {
  if (a.length * b.length <= FEW_PAIRS) return a.some((one) => b.some((other) => one.code === other.code && one.system === other.system))
  const wanted = new Set(b.map(codeKey))
  return a.some((one) => wanted.has(codeKey(one)))
}

function codeKey({ code, system }: Code): string {
  return JSON.stringify([code, system])
}

function codesOf(value: Value): readonly Code[] {
  if (isConcept(value)) return value.codes
  return isCode(value) ? [value] : []
}

function equivalentTuples(a: ReadonlyMap<string, Value>, b: ReadonlyMap<string, Value>, convert: UnitConversion): boolean {
  for (const [name, element] of a) if (!equivalent(element, b.get(name) ?? null, convert)) return false
  for (const [name, element] of b) if (!a.has(name) && element !== null) return false
  return true
}

function equivalentIntervals(a: Interval, b: Interval, convert: UnitConversion): boolean {
  return equivalent(startOf(a), startOf(b), convert) && equivalent(endOf(a), endOf(b), convert)
}

function plainText(text: string): string {
  return text.toLowerCase().replace(/[^\S ]/g, ' ')
}

function sameJson(a: unknown, b: unknown): boolean {
  return jsonText(a) === jsonText(b)
}

function isZeroOrder(order: -1 | 0 | 1 | null): boolean | null {
  return order === null ? null : order === 0
}

/** Three-valued `and` of all results: false if any is false, otherwise null if any is null. */
export function all(results: readonly (boolean | null)[]): boolean | null {
  if (results.includes(false)) return false
  return results.includes(null) ? null : true
}

/** Whether a list has a value by `=`, with null equal to null (as in `union`, `distinct` and `in` of lists). */
export function listHas(list: readonly Value[], wanted: Value, convert: UnitConversion): boolean {
  return list.some((item) => (item === null || wanted === null ? item === wanted : equal(item, wanted, convert) === true))
}
