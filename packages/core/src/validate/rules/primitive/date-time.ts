import { quoted } from '../../../errors/index.js'
import { PRIMITIVE_FORM, PRIMITIVE_RANGE, type PrimitiveProblem } from '../../run/primitive-problem.js'

const FRACTION = /^\.\d+$/
const ZONE = /^(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/
const DATE_LENGTHS: ReadonlySet<number> = new Set(['YYYY', 'YYYY-MM', 'YYYY-MM-DD'].map(({ length }) => length))
const HYPHEN = 45
const ZERO = 48
const COLON = 58
const OLDEST_YEAR = 1800
const YEARS_AHEAD = 80
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** date: year, year and month, or a day of the calendar. */
export function dateProblem(text: string, now: Date): PrimitiveProblem | undefined {
  return isDate(text) ? yearProblem(text, now) : wrong(text, 'date')
}

/** dateTime: a date, or a day with a time to the second and a time zone. */
export function dateTimeProblem(text: string, now: Date): PrimitiveProblem | undefined {
  if (isDateTime(text)) return yearProblem(text, now)
  return wrong(text, text.includes('T') ? 'dateTime, which needs seconds and a time zone when it has a time' : 'dateTime')
}

/** instant: a day with a time to the second at least, and a time zone. */
export function instantProblem(text: string, now: Date): PrimitiveProblem | undefined {
  return isMoment(text) ? yearProblem(text, now) : wrong(text, 'instant')
}

/** time: `hh:mm:ss` with optional fractions, without time zone. */
export function timeProblem(text: string): PrimitiveProblem | undefined {
  return isTime(text) ? undefined : wrong(text, 'time')
}

function isDate(text: string): boolean {
  const year = numberAt(text, 0, 4)
  const month = text.length === 4 ? 1 : partAt(text, 5)
  const day = text.length <= 7 ? 1 : partAt(text, 8)
  return DATE_LENGTHS.has(text.length) && year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

/** The number of two digits after a hyphen. */
function partAt(text: string, start: number): number {
  return text.charCodeAt(start - 1) === HYPHEN ? numberAt(text, start, start + 2) : Number.NaN
}

/** The number in the digits from `start` to `end`; NaN when there is another character. */
function numberAt(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - ZERO
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0)
}

/** Whether a text is a dateTime: a date, or a day with a time to the second and a time zone. */
export function isDateTime(text: string): boolean {
  return text.includes('T') ? isMoment(text) : isDate(text)
}

function isMoment(text: string): boolean {
  const separator = text.indexOf('T')
  const zone = zoneStart(text)
  return separator === 10 && isDate(text.slice(0, separator)) && isTime(text.slice(separator + 1, zone)) && ZONE.test(text.slice(zone))
}

function zoneStart(text: string): number {
  if (text.endsWith('Z')) return text.length - 1
  return text.length - '+00:00'.length
}

/** Leap seconds are allowed, 24:00 is not. */
function isTime(text: string): boolean {
  if (text.charCodeAt(2) !== COLON || text.charCodeAt(5) !== COLON) return false
  if (text.length > 8 && !FRACTION.test(text.slice(8))) return false
  return numberAt(text, 0, 2) <= 23 && numberAt(text, 3, 5) <= 59 && numberAt(text, 6, 8) <= 60
}

function yearProblem(text: string, now: Date): PrimitiveProblem | undefined {
  const year = numberAt(text, 0, 4)
  if (year >= OLDEST_YEAR && year <= now.getUTCFullYear() + YEARS_AHEAD) return undefined
  return {
    finding: PRIMITIVE_RANGE,
    text: `${quoted(text)} is outside the range of reasonable years; check for a data entry error.`,
    severity: 'warning',
  }
}

function wrong(text: string, type: string): PrimitiveProblem {
  return { finding: PRIMITIVE_FORM, text: `${quoted(text)} is not a valid ${type}.` }
}
