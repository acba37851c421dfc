import type { Interval } from './interval.js'

const FORM = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/

/**
 * The milliseconds, both inclusive, that a date, dateTime or instant means: `2012` is the whole year, `2012-02-29T10:00` a minute. A time
 * without zone, and a date, are in UTC.
 *
 * @returns `undefined` for what is not a date of the calendar.
 */
export function dateInterval(text: string): Interval | undefined {
  const parts = FORM.exec(text)
  if (parts === null) return undefined
  const day = { year: Number(parts[1]), month: Number(parts[2] ?? 1), day: Number(parts[3] ?? 1) }
  const time = timeOf(parts)
  const offset = offsetOf(parts[8])
  if (!isCalendarDay(day) || time === undefined || offset === undefined) return undefined
  const low = utc(day) + time - offset
  return { low, high: low + lengthOf(parts, day) - 1 }
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Day {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
function utc({ year, month, day }: Day): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

/** Milliseconds since midnight. */
function timeOf([, , , , hour = '0', minute = '0', second = '0', fraction = '0']: RegExpExecArray): number | undefined {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  return Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * SECOND + Math.floor(Number(`0.${fraction}`) * SECOND)
}

function isCalendarDay(day: Day): boolean {
  const date = new Date(utc(day))
  return date.getUTCMonth() === day.month - 1 && date.getUTCDate() === day.day
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4))
  if (hours > 14 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * HOUR + minutes * MINUTE)
}

function lengthOf([, , month, day, hour, , second, fraction]: RegExpExecArray, start: Day): number {
  if (month === undefined) return utc({ ...start, year: start.year + 1 }) - utc(start)
  if (day === undefined) return utc({ ...start, month: start.month + 1 }) - utc(start)
  if (hour === undefined) return DAY
  if (second === undefined) return MINUTE
  if (fraction === undefined) return SECOND
  return Math.max(1, 10 ** (3 - fraction.length))
}
