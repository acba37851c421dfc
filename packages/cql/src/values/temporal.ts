/** Precisions of dates and times, the coarsest first; `PRECISIONS[value.precision]` is the name of a value's precision. */
export const PRECISIONS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'millisecond'] as const

/** Index into `PRECISIONS`. */
export type Precision = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** Named indexes of `PRECISIONS`. */
export const YEAR = 0
export const MONTH = 1
export const DAY = 2
export const HOUR = 3
export const MINUTE = 4
export const SECOND = 5
export const MILLISECOND = 6

/**
 * A System.Date, System.DateTime or System.Time, as precise as it was written.
 *
 * `fields` are year, month, day, hour, minute, second, millisecond; those beyond `precision` have their least value (a Time has 1, 1, 1 in the first
 * three). `low` and `high` are the first and last moment that it may mean, in milliseconds since 1970 UTC (for a Time, since the start of the day).
 * `offset` is in minutes. `isPeriodEnd` marks a boundary of the period of a Measure, to the millisecond: comparisons with it treat seconds and milliseconds
 * as one number, so that a resource that begins at 00:00:00 is in a period that begins at 00:00:00.000.
 */
export interface Temporal {
  readonly kind: 'date' | 'dateTime' | 'time'
  readonly fields: Fields
  readonly precision: Precision
  readonly offset: number
  readonly low: number
  readonly high: number
  readonly isPeriodEnd?: true
}

/** Year, month, day, hour, minute, second, millisecond. */
export type Fields = readonly [number, number, number, number, number, number, number]

const LEAST: Fields = [1, 1, 1, 0, 0, 0, 0]
const GREATEST: Fields = [9999, 12, 31, 23, 59, 59, 999]
const MINUTE_MS = 60_000
/** Duration of one unit of each precision; `undefined` for years and months, whose length varies. */
const LENGTHS_MS: readonly (number | undefined)[] = [undefined, undefined, 86_400_000, 3_600_000, MINUTE_MS, 1_000, 1]

/** Creates a temporal value from its fields, whose number determines the precision; `undefined` if one is out of range. */
export function temporalOf(kind: Temporal['kind'], given: readonly number[], offset = 0): Temporal | undefined {
  const start = kind === 'time' ? HOUR : YEAR
  const precision = precisionOf(start + given.length - 1)
  if (precision === undefined || given.length === 0) return undefined
  const fields = filled(given, start, LEAST)
  if (!isInRange(fields)) return undefined
  const shift = offset * MINUTE_MS
  const low = momentOf(fields) - shift
  const length = LENGTHS_MS[precision]
  const high = length === undefined ? momentOf(lastFields(fields, precision)) - shift : low + length - 1
  return { kind, fields, precision, offset, low, high }
}

/** Copies a temporal value with other fields and possibly another precision; `undefined` if a field is out of range. */
export function withFields(value: Temporal, fields: readonly number[], precision: Precision = value.precision): Temporal | undefined {
  const start = value.kind === 'time' ? HOUR : YEAR
  const made = temporalOf(value.kind, fields.slice(start, precision + 1), value.offset)
  return value.isPeriodEnd === true && made?.precision === MILLISECOND ? { ...made, isPeriodEnd: true } : made
}

/** The value at a precision, by default the finest, with missing fields at their least or greatest. */
export function boundaryOf(value: Temporal, end: 'least' | 'greatest', precision: Precision = finestOf(value.kind)): Temporal | undefined {
  if (value.precision === precision) return value
  const all = end === 'least' ? value.fields : lastFields(value.fields, value.precision)
  return withFields(value, all, precision)
}

/** The finest precision of a kind. */
export function finestOf(kind: Temporal['kind']): Precision {
  return kind === 'date' ? DAY : MILLISECOND
}

/** The fields of a moment at an offset in minutes. */
export function fieldsAt(moment: number, offset: number): Fields {
  const date = new Date(moment + offset * MINUTE_MS)
  return [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    date.getUTCMilliseconds(),
  ]
}

/** Converts fields at UTC to milliseconds since 1970. */
export function momentOf([year, month, day, hour, minute, second, millisecond]: Fields): number {
  const moment = Date.UTC(year, month - 1, day, hour, minute, second, millisecond)
  return year >= 100 ? moment : new Date(moment).setUTCFullYear(year, month - 1, day)
}

/** Number of days of a month. */
export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Narrows an index to a precision; `undefined` if it is out of range. */
export function precisionOf(index: number): Precision | undefined {
  return index === 0 || index === 1 || index === 2 || index === 3 || index === 4 || index === 5 || index === 6 ? index : undefined
}

const DATE_TIME = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(T(?:(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?)?(Z|[+-]\d\d:\d\d)?$/
const TIME = /^T?(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(?:Z|[+-]\d\d:\d\d)?$/

/** Recently parsed values by kind, offset and text: evaluations for other periods read the same texts. */
const lately = { date: new Map<number, Map<string, Temporal>>(), dateTime: new Map<number, Map<string, Temporal>>() }
/** A process usually has one offset, and two while the clocks change. */
const MOST_OFFSETS = 2
const MOST_TEXTS = 20_000

/** Parses a date (`2012-01`) or date and time (`2012-01-05T10:30Z`) of ISO 8601. A time without an offset has `offset`. */
export function parseDateTime(text: string, offset: number, kind: 'date' | 'dateTime' = 'dateTime'): Temporal | undefined {
  const atOffset = lately[kind]
  const known = atOffset.get(offset)
  const value = known?.get(text)
  if (value !== undefined) return value
  const made = readDateTime(text, offset, kind)
  if (made === undefined) return undefined
  if (known === undefined && atOffset.size >= MOST_OFFSETS) atOffset.clear()
  if (known === undefined || known.size >= MOST_TEXTS) atOffset.set(offset, new Map([[text, made]]))
  else known.set(text, made)
  return made
}

function readDateTime(text: string, offset: number, kind: 'date' | 'dateTime'): Temporal | undefined {
  if (kind === 'dateTime' && isToSecond(text)) return readToSecond(text, offset)
  const match = DATE_TIME.exec(text)
  if (match === null || (kind === 'date' && (match[4] !== undefined || match[9] !== undefined))) return undefined
  const [, year, month, day, , hour, minute, second, fraction, zone] = match
  if (hour !== undefined && day === undefined) return undefined
  const given = [year, month, day, hour, minute, second, milliseconds(fraction)].filter((part) => part !== undefined).map(Number)
  const own = offsetOf(zone)
  return Math.abs(own ?? 0) > 14 * 60 ? undefined : temporalOf(kind, given, kind === 'date' ? 0 : (own ?? offset))
}

/** True for texts with seconds, as most are: they are parsed in half of the time that the regular expression takes. */
function isToSecond(text: string): boolean {
  return text.length >= 19 && text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':'
}

const AFTER_SECOND = /^(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/

function readToSecond(text: string, offset: number): Temporal | undefined {
  const rest = text.slice(19)
  const [matched, fraction, zone] = rest === 'Z' ? [rest, undefined, rest] : (AFTER_SECOND.exec(rest) ?? [])
  const own = offsetOf(zone)
  if (matched === undefined || Math.abs(own ?? 0) > 14 * 60) return undefined
  const given = [
    digitsAt(text, 0, 4),
    digitsAt(text, 5, 2),
    digitsAt(text, 8, 2),
    digitsAt(text, 11, 2),
    digitsAt(text, 14, 2),
    digitsAt(text, 17, 2),
  ]
  if (fraction !== undefined) given.push(Number(milliseconds(fraction)))
  return temporalOf('dateTime', given, own ?? offset)
}

/** The number that the digits represent; `NaN` if there is anything else. */
function digitsAt(text: string, start: number, count: number): number {
  let number = 0
  for (let at = start; at < start + count; at++) {
    const digit = text.charCodeAt(at) - ZERO
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN
  }
  return number
}

const ZERO = 48

/** Parses a time of day (`10:30:00.5`, also with a leading `T`). */
export function parseTime(text: string): Temporal | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, hour, minute, second, fraction] = match
  return temporalOf('time', [hour, minute, second, milliseconds(fraction)].filter((part) => part !== undefined).map(Number))
}

/** Writes a value in ISO 8601 to its precision: `2012-01`, `2012-01-05T10:30:00.000+00:00`, `10:30`. */
export function temporalText(value: Temporal): string {
  if (value.kind === 'time') return clockText(value)
  const [year, month, day] = value.fields
  const parts = [String(year).padStart(4, '0'), twoDigits(month), twoDigits(day)].slice(0, Math.min(value.precision, DAY) + 1)
  const clock = value.precision >= HOUR ? `T${clockText(value)}${offsetText(value.offset)}` : ''
  return parts.join('-') + clock
}

function clockText({ fields, precision }: Temporal): string {
  const [, , , hour, minute, second, millisecond] = fields
  const parts = [twoDigits(hour), twoDigits(minute), twoDigits(second)].slice(0, Math.min(precision, SECOND) - HOUR + 1)
  return parts.join(':') + (precision === MILLISECOND ? `.${String(millisecond).padStart(3, '0')}` : '')
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${twoDigits(Math.trunc(minutes / 60))}:${twoDigits(minutes % 60)}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function milliseconds(fraction: string | undefined): string | undefined {
  return fraction?.padEnd(3, '0').slice(0, 3)
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined) return undefined
  if (zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))
  return zone.startsWith('-') ? -minutes : minutes
}

function filled(given: readonly number[], start: number, rest: Fields): Fields {
  const at = (index: number): number => given[index - start] ?? rest[index] ?? 0
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6)]
}

function lastFields(fields: Fields, precision: Precision): Fields {
  const at = (index: number): number => (index <= precision ? fields[index] : GREATEST[index]) ?? 0
  const [year, month] = [at(0), at(1)]
  const day = precision >= DAY ? at(2) : daysIn(year, month)
  return [year, month, day, at(3), at(4), at(5), at(6)]
}

function isInRange([year, month, day, hour, minute, second, millisecond]: Fields): boolean {
  return (
    within(year, 1, 9999) &&
    within(month, 1, 12) &&
    within(day, 1, daysIn(year, month)) &&
    within(hour, 0, 23) &&
    within(minute, 0, 59) &&
    within(second, 0, 59) &&
    within(millisecond, 0, 999)
  )
}

function within(value: number, least: number, greatest: number): boolean {
  return Number.isInteger(value) && value >= least && value <= greatest
}
