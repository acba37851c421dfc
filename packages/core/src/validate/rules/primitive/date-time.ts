import { quoted } from '../../../errors/index.js'
import type { PrimitiveProblem } from './primitive-problem.js'

const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?$/
const ZONE = /^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/
const OLDEST_YEAR = 1800
const YEARS_AHEAD = 80
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** date: year, year and month, or a day of the calendar. */
export function dateProblem(text: string, now: Date): PrimitiveProblem | undefined {
  return isDate(text) ? yearProblem(text, now) : wrong(text, 'date')
}

/** dateTime: a date, or a day with a time to the second and a time zone. */
export function dateTimeProblem(text: string, now: Date): PrimitiveProblem | undefined {
  if (!text.includes('T')) return isDate(text) ? yearProblem(text, now) : wrong(text, 'dateTime')
  return isDateTime(text) ? yearProblem(text, now) : wrong(text, 'dateTime, which needs seconds and a time zone when it has a time')
}

/** instant: a day with a time to the second at least, and a time zone. */
export function instantProblem(text: string, now: Date): PrimitiveProblem | undefined {
  return isDateTime(text) ? yearProblem(text, now) : wrong(text, 'instant')
}

/** time: `hh:mm:ss` with optional fractions, without time zone. */
export function timeProblem(text: string): PrimitiveProblem | undefined {
  return isTime(text) ? undefined : wrong(text, 'time')
}

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2] ?? 1), Number(match[3] ?? 1)]
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0)
}

function isDateTime(text: string): boolean {
  const separator = text.indexOf('T')
  const zone = zoneStart(text)
  return separator === 10 && isDate(text.slice(0, separator)) && isTime(text.slice(separator + 1, zone)) && ZONE.test(text.slice(zone))
}

function zoneStart(text: string): number {
  if (text.endsWith('Z')) return text.length - 1
  return text.length - '+00:00'.length
}

/** Leap seconds are times, 24:00 is none. */
function isTime(text: string): boolean {
  const match = TIME.exec(text)
  return match !== null && Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 60
}

function yearProblem(text: string, now: Date): PrimitiveProblem | undefined {
  const year = Number(text.slice(0, 4))
  if (year >= OLDEST_YEAR && year <= now.getUTCFullYear() + YEARS_AHEAD) return undefined
  return { kind: 'primitive-range', text: `${quoted(text)} is outside the range of years that is to be expected.`, severity: 'warning' }
}

function wrong(text: string, type: string): PrimitiveProblem {
  return { kind: 'primitive-form', text: `${quoted(text)} is not a valid ${type}.` }
}
