import type { Comparison } from '../storage/index.js'

/**
 * Splits a search value at separators that are not escaped by a backslash. The backslashes stay in the parts.
 *
 * @see https://hl7.org/fhir/R4/search.html#escaping
 */
export function splitUnescaped(text: string, separator: ',' | '|' | '$'): readonly string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

/** Replaces the escapes `\,`, `\|`, `\$` and `\\`. */
export function unescaped(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1')
}

/** Escapes a text; the inverse of `unescaped`. */
export function escaped(text: string): string {
  // Most texts have none of these, and a test takes less time than a replacement without matches.
  return /[,|$\\]/.test(text) ? text.replace(/[,|$\\]/g, '\\$&') : text
}

/** A span of numbers or of milliseconds since 1970. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Open ends of times: the earliest and the latest time of `Date`. */
export const ALL_TIME: Interval = { low: -8_640_000_000_000_000, high: 8_640_000_000_000_000 }

/** Open ends of numbers. */
export const ALL_NUMBERS: Interval = { low: -Number.MAX_VALUE, high: Number.MAX_VALUE }

/** Returns the smallest interval that contains both. */
export function hull(a: Interval, b: Interval): Interval {
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
}

/** Prefixes for comparisons of ordered values. @see https://hl7.org/fhir/R4/search.html#prefix */
export type SearchPrefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap'

/** Splits a value into prefix and rest; `eq` when it has no prefix. */
export function splitPrefix(value: string): readonly [prefix: SearchPrefix, rest: string] {
  const found = PREFIXES.find((prefix) => value.startsWith(prefix))
  return found === undefined ? ['eq', value] : [found, value.slice(found.length)]
}

const PREFIXES: readonly SearchPrefix[] = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']

/** The meaning of a search value, to compare with the interval of an entry. Bounds are inclusive. */
export interface Range {
  /** Interval for `eq` and `ne`. */
  readonly exact: Interval
  /** Interval for the ordering prefixes. */
  readonly ordered: Interval
  /** Interval for `ap`. */
  readonly approximate: Interval
  /** `lt` if the upper bound of `exact` is not part of it. */
  readonly upper: 'le' | 'lt'
}

/** Returns alternatives for the bounds of an entry relative to the range, at least one of which must hold. */
export function intervalTests(prefix: SearchPrefix, range: Range): readonly (readonly Comparison[])[] {
  return TESTS[prefix](range)
}

const TESTS: Readonly<Record<SearchPrefix, (range: Range) => readonly (readonly Comparison[])[]>> = {
  // The second comparison is implied by the third, but bounds `low` on both sides, so that an index finds few entries.
  eq: ({ exact, upper }) => [[low('ge', exact.low), low(upper, exact.high), high(upper, exact.high)]],
  ne: ({ exact, upper }) => [[low('lt', exact.low)], [high(upper === 'le' ? 'gt' : 'ge', exact.high)]],
  gt: ({ ordered }) => [[high('gt', ordered.high)]],
  lt: ({ ordered }) => [[low('lt', ordered.low)]],
  ge: ({ ordered }) => [[low('ge', ordered.low)], [high('gt', ordered.high)]],
  le: ({ ordered }) => [[high('le', ordered.high)], [low('lt', ordered.low)]],
  sa: ({ ordered }) => [[low('gt', ordered.high)]],
  eb: ({ ordered }) => [[high('lt', ordered.low)]],
  ap: ({ approximate }) => [[low('le', approximate.high), high('ge', approximate.low)]],
}

type Op = 'lt' | 'le' | 'gt' | 'ge'

function low(op: Op, operand: number): Comparison {
  return { field: 'low', op, operand }
}

function high(op: Op, operand: number): Comparison {
  return { field: 'high', op, operand }
}

const FORM = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/

/**
 * Returns the interval, in milliseconds and inclusive, of a date, dateTime or instant: `2012` is the whole year, `2012-02-29T10:00` a minute. Dates,
 * and times without a zone, are in UTC.
 *
 * @returns `undefined` for a text that is not a valid date.
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

/** `Date.UTC` maps the years 0 to 99 to 1900 to 1999. */
function utc({ year, month, day }: Day): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

/** Returns the milliseconds since midnight; `undefined` for an invalid time. */
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
