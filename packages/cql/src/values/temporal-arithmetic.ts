import { wholePart, type Decimal } from './decimal.js'
import {
  DAY,
  HOUR,
  MILLISECOND,
  MINUTE,
  MONTH,
  SECOND,
  YEAR,
  boundaryOf,
  daysIn,
  fieldsAt,
  momentOf,
  temporalOf,
  withFields,
  type Fields,
  type Precision,
  type Temporal,
} from './temporal.js'
import { durationUnit } from './units.js'

const MS: ReadonlyMap<string, number> = new Map([
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
])
const PRECISION_OF_UNIT: ReadonlyMap<string, Precision> = new Map<string, Precision>([
  ['year', YEAR],
  ['month', MONTH],
  ['week', DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
  ['millisecond', MILLISECOND],
])
const DAY_MS = 86_400_000

/**
 * Adds a duration to a date or time (CQL reference, Add of DateTime): decimals of the amount are dropped, a duration finer than the value
 * is converted to the precision of the value first, and Feb 29 plus a year is Feb 28.
 *
 * @returns `undefined` for units that are not durations, and for results outside the years 1 to 9999.
 */
export function addDuration(value: Temporal, amount: Decimal, unit: string, sign: 1 | -1): Temporal | undefined {
  const calendar = durationUnit(unit)
  if (calendar === undefined) return undefined
  return addUnits(value, sign * Number(wholePart(amount).whole), calendar)
}

/** Whether a unit can be added to values of a kind; to a time of day, only hours and finer units. */
export function isMovedBy(kind: Temporal['kind'], unit: string): boolean {
  const precision = PRECISION_OF_UNIT.get(durationUnit(unit) ?? '')
  return precision !== undefined && (kind !== 'time' || precision > DAY)
}

/** Adds a whole number of units. */
export function addUnits(value: Temporal, amount: number, unit: string): Temporal | undefined {
  const precision = PRECISION_OF_UNIT.get(unit)
  if (precision === undefined) return undefined
  if (precision <= MONTH || (precision > value.precision && value.precision <= MONTH))
    return addMonths(value, monthsOf(amount, unit, value.precision))
  return addMoments(value, amount, unit)
}

/** Converts an amount to whole months for a value of this precision; to whole years for a value in years. A year is 365 days, a month 30. */
function monthsOf(amount: number, unit: string, precision: Precision): number {
  if (unit === 'year') return amount * 12
  if (unit === 'month') return precision === YEAR ? Math.trunc(amount / 12) * 12 : amount
  const days = Math.trunc((amount * (MS.get(unit) ?? 0)) / DAY_MS)
  return precision === YEAR ? Math.trunc(days / 365) * 12 : Math.trunc(days / 30)
}

function addMonths(value: Temporal, months: number): Temporal | undefined {
  if (value.kind === 'time') return undefined
  const [year, month, day, ...clock] = value.fields
  const total = year * 12 + (month - 1) + months
  const [newYear, newMonth] = [Math.floor(total / 12), (((total % 12) + 12) % 12) + 1]
  return withFields(value, [newYear, newMonth, Math.min(day, daysIn(newYear, newMonth)), ...clock])
}

function addMoments(value: Temporal, amount: number, unit: string): Temporal | undefined {
  const step = stepOf(value.precision)
  const ms = Math.trunc((amount * (MS.get(unit) ?? 0)) / step) * step
  const moment = momentOf(value.fields) + ms
  if (value.kind === 'time') return withFields(value, fieldsAt(((moment % DAY_MS) + DAY_MS) % DAY_MS, 0))
  const fields = fieldsAt(moment, 0)
  return Number.isNaN(fields[0]) || fields[0] < 1 || fields[0] > 9999 ? undefined : withFields(value, fields)
}

function stepOf(precision: Precision): number {
  if (precision >= MILLISECOND) return 1
  if (precision === SECOND) return 1_000
  if (precision === MINUTE) return 60_000
  return precision === HOUR ? 3_600_000 : DAY_MS
}

/** Unit for the distance between two dates or times: a precision, or weeks. */
export type Unit = 'year' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond'

/** Number of whole periods from one moment to another; negative if the second is earlier. */
function wholePeriods(from: Fields, to: Fields, unit: Unit): number {
  const ms = MS.get(unit)
  if (ms !== undefined) return Math.trunc((momentOf(to) - momentOf(from)) / ms)
  const months = monthsBetween(from, to)
  return unit === 'year' ? Math.trunc(months / 12) : months
}

function monthsBetween(from: Fields, to: Fields): number {
  const months = (to[0] - from[0]) * 12 + (to[1] - from[1])
  const rest = restOfMonth(to) - restOfMonth(from)
  if (months > 0 && rest < 0) return months - 1
  return months < 0 && rest > 0 ? months + 1 : months
}

function restOfMonth(fields: Fields): number {
  return fields[2] * DAY_MS + clockOf(fields)
}

function clockOf([, , , hour, minute, second, millisecond]: Fields): number {
  return ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
}

/** Number of boundaries of the unit between two moments. */
function crossedBoundaries(from: Fields, to: Fields, unit: Unit): number {
  if (unit === 'year') return to[0] - from[0]
  if (unit === 'month') return (to[0] - from[0]) * 12 + (to[1] - from[1])
  const precision = PRECISION_OF_UNIT.get(unit) ?? DAY
  const difference = momentOf(cutOff(to, precision)) - momentOf(cutOff(from, precision))
  if (unit === 'week') return weekOf(to) - weekOf(from)
  return Math.trunc(difference / (MS.get(unit) ?? 1))
}

/** Number of the week since 1970; weeks begin on Sunday. */
function weekOf(fields: Fields): number {
  return Math.floor((momentOf(cutOff(fields, DAY)) / DAY_MS + 4) / 7)
}

function cutOff(fields: Fields, precision: Precision): Fields {
  const at = (index: number): number => (index <= precision ? (fields[index] ?? 0) : index < 3 ? 1 : 0)
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6)]
}

/**
 * Counts whole calendar periods (`duration`) or crossed boundaries (`difference`) between two dates or times.
 *
 * @returns The least and the greatest possible number; they differ if the values are less precise than the unit.
 */
export function between(from: Temporal, to: Temporal, unit: Unit, what: 'duration' | 'difference'): readonly [number, number] | undefined {
  const count = what === 'duration' ? wholePeriods : crossedBoundaries
  // Boundaries of days and longer units are those of the dates as written; durations are between the moments, as in the published tests.
  const offset = (PRECISION_OF_UNIT.get(unit) ?? DAY) <= DAY && what === 'difference' ? undefined : from.offset
  const [fromLow, toLow] = [leastFields(from, offset), leastFields(to, offset)]
  if (isKnown(from, to, { unit, what })) return twice(count(fromLow, toLow, unit))
  const [fromHigh, toHigh] = [greatestFields(from, offset), greatestFields(to, offset)]
  return fromHigh === undefined || toHigh === undefined ? undefined : [count(fromHigh, toLow, unit), count(fromLow, toHigh, unit)]
}

/**
 * Whether the number of periods between two values is known. Crossed boundaries of a unit do not depend on finer fields. Whole years, months and weeks depend
 * on the day on which they end: they are known if both values have a day or, as in comparisons, the same precision.
 */
function isKnown(from: Temporal, to: Temporal, { unit, what }: { readonly unit: Unit; readonly what: 'duration' | 'difference' }): boolean {
  const own = PRECISION_OF_UNIT.get(unit) ?? DAY
  const least = Math.min(from.precision, to.precision)
  if (what === 'difference' || own >= DAY || least >= DAY) return least >= own
  return least >= own && from.precision === to.precision
}

/** The fields of the first possible moment, at `offset` if given. */
function leastFields(value: Temporal, offset: number | undefined): Fields {
  return value.kind === 'dateTime' && offset !== undefined && value.offset !== offset ? fieldsAt(value.low, offset) : value.fields
}

function greatestFields(value: Temporal, offset: number | undefined): Fields | undefined {
  const last = boundaryOf(value, 'greatest', value.kind === 'date' ? DAY : MILLISECOND)
  return last === undefined ? undefined : leastFields(last, offset)
}

function twice(value: number): readonly [number, number] {
  return [value, value]
}

/** The date part of a date and time; `undefined` for a time of day. */
export function dateOf(value: Temporal): Temporal | undefined {
  if (value.kind === 'time') return undefined
  return temporalOf('date', value.fields.slice(0, Math.min(value.precision, DAY) + 1))
}
