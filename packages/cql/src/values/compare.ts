import {
  compareDecimals,
  decimalOfInteger,
  type Decimal,
  bigOf,
  decimalOfUnits,
  placesOf,
  roundedQuotient,
  scaledUnits,
  significantLength,
} from './decimal.js'
import { DAY, HOUR, SECOND, fieldsAt, type Fields, type Precision, type Temporal } from './temporal.js'
import { compareTemperatures, factorBetween, type UnitConversion } from './units.js'
import { isDecimal, isInterval, isQuantity, isTemporal, quantity, type Quantity, type Value } from './value.js'

/** -1, 0, 1, or `null` if the known parts do not decide. */
export type Order = -1 | 0 | 1 | null

/**
 * Compares two values of an ordered type (CQL reference, Comparison Operators).
 *
 * @returns `null` for null, values of different types, quantities with units that are not comparable, and dates whose known fields do not decide.
 */
export function compare(a: Value, b: Value, convert: UnitConversion): Order {
  if (a === null || b === null) return null
  if (typeof a === 'number' && typeof b === 'number') return sign(a, b)
  if (isTemporal(a) && isTemporal(b)) return compareTemporals(a, b)
  if (isQuantity(a) && isQuantity(b)) return compareQuantities(a, b, convert)
  if (typeof a === 'string' && typeof b === 'string') return sign(a, b)
  if (typeof a === 'bigint' && typeof b === 'bigint') return sign(a, b)
  const [first, second] = [decimalOf(a), decimalOf(b)]
  return first === undefined || second === undefined ? null : orderOf(compareDecimals(first, second))
}

/** `a < b` in three-valued logic; supports uncertain results. */
export function less(a: Value, b: Value, convert: UnitConversion): boolean | null {
  if (!isUncertain(a) && !isUncertain(b)) return isOrder(compare(a, b, convert), -1)
  const [[aLow, aHigh], [bLow, bHigh]] = [rangeOf(a), rangeOf(b)]
  if (compare(aHigh, bLow, convert) === -1) return true
  const reversed = compare(aLow, bHigh, convert)
  return reversed === 0 || reversed === 1 ? false : null
}

/** `a <= b` in three-valued logic; supports uncertain results. */
export function lessOrEqual(a: Value, b: Value, convert: UnitConversion): boolean | null {
  const greater = less(b, a, convert)
  return greater === null ? null : !greater
}

/** Compares two dates or times, optionally only down to a precision (CQL author's guide, Comparing Dates and Times). */
export function compareTemporals(a: Temporal, b: Temporal, precision?: Precision, offset = 0): Order {
  if ((a.kind === 'time') !== (b.kind === 'time')) return null
  if (precision === undefined) return compareMoments(a, b)
  const [first, second] = [fieldsFor(a, precision, offset), fieldsFor(b, precision, offset)]
  for (let index = 0; index <= precision; index++) {
    if (index > a.precision || index > b.precision) return null
    const order = sign(first[index] ?? 0, second[index] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

function compareMoments(a: Temporal, b: Temporal): Order {
  if (a.high < b.low) return -1
  if (a.low > b.high) return 1
  if (a.low === b.low && a.high === b.high) return 0
  const isDecimal = (a.isPeriodEnd === true || b.isPeriodEnd === true) && a.precision >= SECOND && b.precision >= SECOND
  return isDecimal ? sign(a.low, b.low) : null
}

/** The fields to compare: for days and coarser precisions as written, for hours and finer ones at `offset`. */
function fieldsFor(value: Temporal, precision: Precision, offset: number): Fields {
  if (value.kind !== 'dateTime' || precision < HOUR || value.offset === offset || value.precision <= DAY) return value.fields
  return fieldsAt(value.low, offset)
}

/** Compares quantities after converting their units. */
export function compareQuantities(a: Quantity, b: Quantity, convert: UnitConversion, calendarIsUcum = false): Order {
  if (a.unit === b.unit) return orderOf(compareDecimals(a.value, b.value))
  const temperatures = compareTemperatures(a, b)
  if (temperatures !== undefined) return temperatures
  const factor = factorBetween(convert, b.unit, a.unit, calendarIsUcum)
  if (factor === undefined) return null
  if (factor === 1) return orderOf(compareDecimals(a.value, b.value))
  if (factor > 1) return compareScaled(a.value, b.value, factor)
  const reversed = compareScaled(b.value, a.value, 1 / factor)
  return reversed === null ? null : orderOf(-reversed)
}

function compareScaled(a: Decimal, b: Decimal, factor: number): Order {
  const scaled = scaledDecimal(b, factor)
  return scaled === undefined ? null : orderOf(compareDecimals(a, scaled))
}

/** Converts a quantity to another unit; `undefined` if there is no factor, as between scales of temperature, on which amounts cannot be added. */
export function convertQuantity(amount: Quantity, unit: string, convert: UnitConversion): Quantity | undefined {
  if (amount.unit === unit) return amount
  const factor = factorBetween(convert, amount.unit, unit, true)
  if (factor === undefined) return undefined
  const value = factor === 1 ? amount.value : scaledDecimal(amount.value, factor)
  return value === undefined ? undefined : quantity(value, unit)
}

/** Converts an Integer, Long or Decimal to a decimal; `undefined` for other values. */
export function decimalOf(value: Value): Decimal | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return decimalOfInteger(value)
  return isDecimal(value) ? value : undefined
}

/** Whether a value is the uncertain result of a computation on imprecise values. */
export function isUncertain(value: Value): boolean {
  return isInterval(value) && value.uncertain === true
}

/** The least and the greatest possible value: the value itself twice, unless it is uncertain. */
export function rangeOf(value: Value): readonly [Value, Value] {
  return isInterval(value) && value.uncertain === true ? [value.low, value.high] : [value, value]
}

function isOrder(order: Order, wanted: -1 | 0 | 1): boolean | null {
  return order === null ? null : order === wanted
}

function orderOf(value: number): -1 | 0 | 1 {
  return value < 0 ? -1 : value > 0 ? 1 : 0
}

function sign<T extends number | string | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A factor between units, as a quotient of integers. */
interface Fraction {
  readonly above: bigint
  readonly below: bigint
}

/** Maximum number of factors that are kept as fractions. A library names few units. */
const MAX_KEPT = 1_000
const kept = new Map<number, Fraction>()

/** Multiplies a decimal by a factor between units, rounded to 8 places; `undefined` if the result is too large, or the factor is 0 or not finite. */
function scaledDecimal({ units, places }: Decimal, factor: number): Decimal | undefined {
  if (!Number.isFinite(factor) || !Number.isFinite(1 / factor)) return undefined
  const { above, below } = fractionOf(factor)
  const short = typeof units === 'number' ? scaledUnits(units, Number(above), Number(below)) : undefined
  if (short !== undefined) return decimalOfUnits(short, Math.max(places, placesOf(short)))
  const scaled = roundedQuotient(bigOf(units) * above, below)
  return decimalOfUnits(scaled, Math.max(places, placesOf(scaled)))
}

/** The factor as an exact fraction. If decimal digits cannot express it (an hour is 1/24 of a day), those of its reciprocal often can. */
function fractionOf(factor: number): Fraction {
  const known = kept.get(factor)
  if (known !== undefined) return known
  const [direct, inverse] = [scientific(factor), scientific(1 / factor)]
  const fraction = inverse.digits.length < direct.digits.length ? reciprocal(quotientOf(inverse)) : quotientOf(direct)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(factor, fraction)
  return fraction
}

/** Number of digits of a factor that are exact in spite of rounding. */
const DIGITS = 14

interface Scientific {
  /** Without trailing zeros. */
  readonly digits: string
  /** The power of ten by which the digits are multiplied. */
  readonly exponent: number
}

function scientific(value: number): Scientific {
  const [mantissa = '', exponent = '0'] = value.toExponential(DIGITS - 1).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const places = significantLength(fraction)
  return { digits: whole + fraction.slice(0, places), exponent: Number(exponent) - places }
}

function quotientOf({ digits, exponent }: Scientific): Fraction {
  const whole = BigInt(digits)
  return exponent >= 0 ? { above: whole * 10n ** BigInt(exponent), below: 1n } : { above: whole, below: 10n ** BigInt(-exponent) }
}

function reciprocal({ above, below }: Fraction): Fraction {
  return { above: below, below: above }
}
