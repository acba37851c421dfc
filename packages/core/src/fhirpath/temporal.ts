import { evaluationProblem } from './problem.js'
import type { Quantity } from './quantity.js'

/** The kinds of System date and time values. */
export type TemporalKind = 'date' | 'dateTime' | 'time'

/**
 * A date or time with its precision. `fields` holds the known fields of year, month, day, hour, minute, second, in this order
 * (a time begins with the hour); seconds include their fraction.
 */
export interface Temporal {
  readonly kind: TemporalKind
  readonly fields: readonly number[]
  /** Digits of the fraction of the second; 0 when it has none. */
  readonly fraction: number
  /** Minutes east of UTC; absent when the value has no time zone. */
  readonly offset?: number
}

/** Index of the hour in `fields`; in a time, the hour is at 0. */
export const HOUR = 3

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/
const TIME = /^T?(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?$/
/** The most digits of a fraction that a number certainly keeps beside the seconds. */
const KEPT_DIGITS = 13
const ZONE = /(?:Z|[+-]\d\d:\d\d)$/

/** Parses a date of any precision; `undefined` for any other text, or a date that does not exist. */
export function parseDate(text: string): Temporal | undefined {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const fields = known(match.slice(1, 4))
  return isCalendarDate(fields) ? { kind: 'date', fields, fraction: 0 } : undefined
}

/** Parses a time such as `13:28:17.239`, with or without a leading `T`. */
export function parseTime(text: string): Temporal | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, hour, minute, second, fraction] = match
  const fields = known([hour, minute, second === undefined ? undefined : `${second}.${fraction ?? 0}`])
  return isClockTime(fields) ? { kind: 'time', fields, fraction: Math.min(fraction?.length ?? 0, KEPT_DIGITS) } : undefined
}

/** Parses a date, or a date with a time of any precision and an optional zone. */
export function parseDateTime(text: string): Temporal | undefined {
  const [dayText = '', clockText = ''] = text.split('T', 2)
  const date = parseDate(dayText)
  if (date === undefined || text.length > dayText.length + 1 + clockText.length) return undefined
  return clockText === '' ? { ...date, kind: 'dateTime' } : withTime(date, clockText)
}

function withTime(date: Temporal, text: string): Temporal | undefined {
  const zone = ZONE.exec(text)?.[0]
  const time = parseTime(zone === undefined ? text : text.slice(0, -zone.length))
  if (time === undefined || date.fields.length < HOUR) return undefined
  const fields = [...date.fields, ...time.fields]
  return { kind: 'dateTime', fields, fraction: time.fraction, ...(zone !== undefined && { offset: offsetOf(zone) }) }
}

/** Writes a value as in FHIR JSON. */
export function temporalText({ kind, fields, fraction, offset }: Temporal): string {
  const width = fraction > 0 ? fraction + 3 : 2
  const texts = fields.map((field, i) => {
    if (isSecond(kind, i)) return field.toFixed(fraction).padStart(width, '0')
    return String(field).padStart(kind !== 'time' && i === 0 ? 4 : 2, '0')
  })
  if (kind === 'time') return texts.join(':')
  const date = texts.slice(0, HOUR).join('-')
  const time = texts.slice(HOUR).join(':')
  return time === '' ? date : `${date}T${time}${offset === undefined ? '' : zoneText(offset)}`
}

/** Converts a `Date` to a dateTime with milliseconds, in UTC. */
export function temporalOf(moment: Date): Temporal {
  const fields = [
    moment.getUTCFullYear(),
    moment.getUTCMonth() + 1,
    moment.getUTCDate(),
    moment.getUTCHours(),
    moment.getUTCMinutes(),
    moment.getUTCSeconds() + moment.getUTCMilliseconds() / 1000,
  ]
  return { kind: 'dateTime', fields, fraction: 3, offset: 0 }
}

/** Returns the milliseconds since 1970 of a dateTime, with the least values for unknown fields. */
export function epochMs({ fields, offset }: Temporal): number {
  const [year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0] = fields
  const moment = new Date(0)
  moment.setUTCFullYear(year, month - 1, day)
  return moment.getTime() + ((hour * 60 + minute - (offset ?? 0)) * 60 + second) * 1000
}

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

function isSecond(kind: TemporalKind, index: number): boolean {
  return index === (kind === 'time' ? 2 : 5)
}

function known(texts: readonly (string | undefined)[]): number[] {
  return texts.filter((text) => text !== undefined).map(Number)
}

function isCalendarDate([year = 1, month = 1, day = 1]: readonly number[]): boolean {
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
}

/** Times of FHIR may be in a leap second. */
function isClockTime([hour = 0, minute = 0, second = 0]: readonly number[]): boolean {
  return hour < 24 && minute < 60 && second < 61
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))
  return zone.startsWith('-') ? -minutes : minutes
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z'
  const minutes = Math.abs(offset)
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
  return `${offset < 0 ? '-' : '+'}${hour}:${minute}`
}

/** Position of each unit in a date's fields, and its length. Definite UCUM units of a week or less count as calendar units. */
const UNITS: ReadonlyMap<string, { readonly field: number; readonly ms?: number; readonly months?: number }> = new Map([
  ['year', { field: 0, months: 12 }],
  ['month', { field: 1, months: 1 }],
  ['week', { field: 2, ms: 604_800_000 }],
  ['wk', { field: 2, ms: 604_800_000 }],
  ['day', { field: 2, ms: 86_400_000 }],
  ['d', { field: 2, ms: 86_400_000 }],
  ['hour', { field: 3, ms: 3_600_000 }],
  ['h', { field: 3, ms: 3_600_000 }],
  ['minute', { field: 4, ms: 60_000 }],
  ['min', { field: 4, ms: 60_000 }],
  ['second', { field: 5, ms: 1_000 }],
  ['s', { field: 5, ms: 1_000 }],
  ['millisecond', { field: 5, ms: 1 }],
  ['ms', { field: 5, ms: 1 }],
])

const DAYS_PER_MONTH = 30
const MS_PER_DAY = 86_400_000
const LAST_YEAR = 9_999

/**
 * Adds a duration to a date or time. Fractions of units other than seconds are ignored; the result keeps the precision of the value. `undefined`
 * when the result is outside the years 1 to 9999.
 *
 * @throws {OperationError} `fhirpath-invalid` for a unit that is not a duration.
 * @see https://hl7.org/fhirpath/N1/#datetime-arithmetic
 */
export function addDuration(value: Temporal, { value: { value: amount }, unit }: Quantity): Temporal | undefined {
  const known = UNITS.get(unit)
  if (known === undefined) throw evaluationProblem(`'${unit.slice(0, 60)}' is not a unit of time to add`)
  if (value.kind === 'time') return known.ms === undefined ? undefined : timePlus(value, amount * known.ms)
  const whole = known.field < 5 ? Math.trunc(amount) : amount
  if (known.months !== undefined) return monthsLater(value, whole * known.months)
  return momentPlus(value, whole * (known.ms ?? 0))
}

function monthsLater(value: Temporal, months: number): Temporal | undefined {
  const [year = 1, month, day, ...clock] = value.fields
  const total = year * 12 + (month ?? 1) - 1 + (month === undefined ? Math.trunc(months / 12) * 12 : months)
  const [newYear, newMonth] = [Math.floor(total / 12), (total % 12) + 1]
  if (newYear < 1 || newYear > LAST_YEAR) return undefined
  if (month === undefined) return { ...value, fields: [newYear] }
  if (day === undefined) return { ...value, fields: [newYear, newMonth] }
  return { ...value, fields: [newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)), ...clock] }
}

function momentPlus(value: Temporal, ms: number): Temporal | undefined {
  const precision = value.fields.length
  if (precision < HOUR) {
    const months = Math.trunc(ms / MS_PER_DAY / DAYS_PER_MONTH)
    return monthsLater(value, precision === 1 ? Math.trunc(ms / MS_PER_DAY / 365) * 12 : months)
  }
  const local = { kind: value.kind, fields: value.fields, fraction: value.fraction }
  const moment = new Date(epochMs(local) + ms)
  const year = moment.getUTCFullYear()
  if (!(year >= 1 && year <= LAST_YEAR)) return undefined
  const later = temporalOf(moment)
  const fraction = Math.max(value.fraction, precision === 6 && ms % 1_000 !== 0 ? 3 : 0)
  return { ...value, fields: later.fields.slice(0, precision), fraction }
}

function timePlus(value: Temporal, ms: number): Temporal {
  const [hour = 0, minute = 0, second = 0] = value.fields
  const total = (((((hour * 60 + minute) * 60 + second) * 1000 + ms) % MS_PER_DAY) + MS_PER_DAY) % MS_PER_DAY
  const fields = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60, (total % 60_000) / 1000]
  return { ...value, fields: fields.slice(0, value.fields.length) }
}
