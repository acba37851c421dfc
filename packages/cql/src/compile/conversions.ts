import { decimalOf } from '../values/compare.js'
import { decimalOfInteger, decimalOfText, wholePart } from '../values/decimal.js'
import { integer, long } from '../values/point.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { DAY, parseDateTime, parseTime, temporalOf, type Temporal } from '../values/temporal.js'
import { plainTextOf } from '../values/text.js'
import { calendarUnit } from 'fhir-ops/internal/fhirpath'
import { isCode, isConcept, isDecimal, isList, isQuantity, isTemporal, kindOf, quantity, type Value } from '../values/value.js'
import { quotient } from './arithmetic.js'

/** Converts a value to one System type; null if that is not possible. @param offset Offset in minutes for times without one. */
export type Converter = (value: Value, offset: number) => Value

/** Conversions by the name of their System type. */
export const CONVERSIONS: Readonly<Record<string, Converter>> = {
  Boolean: toBoolean,
  Integer: toInteger,
  Long: toLong,
  Decimal: toDecimal,
  String: (value) => plainTextOf(value) ?? null,
  Date: toDate,
  DateTime: toDateTime,
  Time: toTime,
  Quantity: toQuantity,
  Ratio: toRatio,
  Concept: toConcept,
}

const TRUE: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0'])

function toBoolean(value: Value): Value {
  if (typeof value === 'boolean') return value
  const amount = decimalOf(value)
  const text = typeof value === 'string' ? value.toLowerCase() : amount === undefined ? undefined : wholeText(amount)
  if (text === undefined) return null
  return TRUE.has(text) ? true : FALSE.has(text) ? false : null
}

function wholeText(amount: Parameters<typeof wholePart>[0]): string | undefined {
  const { whole, rest } = wholePart(amount)
  return rest === 0 ? whole.toString() : undefined
}

function toInteger(value: Value): Value {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return integer(Number(value))
  return typeof value === 'string' && /^[+-]?\d{1,10}$/.test(value) ? integer(Number(value)) : null
}

function toLong(value: Value): Value {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'bigint') return value
  return typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value) ? long(BigInt(value)) : null
}

function toDecimal(value: Value): Value {
  if (isDecimal(value)) return value
  if (typeof value === 'boolean') return { kind: 'decimal', units: value ? 100_000_000 : 0, places: 1 }
  if (typeof value === 'string') return decimalOfText(value, true) ?? null
  return typeof value === 'number' || typeof value === 'bigint' ? (decimalOfInteger(value) ?? null) : null
}

function toDate(value: Value): Value {
  if (typeof value === 'string') return parseDateTime(value, 0, 'date') ?? null
  return isTemporal(value) ? (dateOf(value) ?? null) : null
}

function toDateTime(value: Value, offset: number): Value {
  if (typeof value === 'string') return parseDateTime(value, offset) ?? null
  if (!isTemporal(value) || value.kind === 'time') return null
  return value.kind === 'dateTime' ? value : dateTimeOfDate(value, offset)
}

/** Converts a date, which has no offset, to a date and time of the same precision, with unknown time. */
function dateTimeOfDate(value: Temporal, offset: number): Value {
  const shift = offset * MINUTE_MS
  return { ...value, kind: 'dateTime', offset, low: value.low - shift, high: value.high - shift }
}

const MINUTE_MS = 60_000

function toTime(value: Value): Value {
  if (typeof value === 'string') return parseTime(value) ?? null
  if (!isTemporal(value)) return null
  return value.kind === 'time' ? value : (temporalOf('time', value.fields.slice(DAY + 1, value.precision + 1)) ?? null)
}

const QUANTITY = /^([+-]?\d{1,28}(?:\.\d{1,28})?)\s*(?:'([^']{1,100})'|([a-z]{3,12}))?$/

function toQuantity(value: Value): Value {
  if (isQuantity(value)) return value
  if (kindOf(value) === 'ratio') return quantityOfRatio(value)
  if (typeof value !== 'string') {
    const amount = decimalOf(value)
    return amount === undefined ? null : quantity(amount)
  }
  const [, number, ucum, word] = QUANTITY.exec(value.trim()) ?? []
  const amount = number === undefined ? undefined : decimalOfText(number, true)
  if (amount === undefined) return null
  if (word !== undefined && calendarUnit(word) === undefined) return null
  return quantity(amount, ucum ?? word ?? '1')
}

function quantityOfRatio(value: Value): Value {
  if (value === null || typeof value !== 'object' || isList(value) || value.kind !== 'ratio') return null
  return value.numerator === null || value.denominator === null ? null : quotient(value.numerator, value.denominator)
}

function toRatio(value: Value): Value {
  if (kindOf(value) === 'ratio') return value
  if (typeof value !== 'string') return null
  // A third part, whatever follows it, shows that it is not a ratio.
  const [numerator = null, denominator = null, more] = value.split(':', 3)
  if (more !== undefined) return null
  const [above, below] = [toQuantity(numerator), toQuantity(denominator)]
  return isQuantity(above) && isQuantity(below) ? { kind: 'ratio', numerator: above, denominator: below } : null
}

function toConcept(value: Value): Value {
  if (isConcept(value)) return value
  const codes = isCode(value) ? [value] : isList(value) ? value.filter(isCode) : []
  return codes.length === 0 ? null : { kind: 'concept', codes, display: codes.length === 1 ? (codes[0]?.display ?? null) : null }
}
