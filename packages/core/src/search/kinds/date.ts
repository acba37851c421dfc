import { isObject, isString, objectAt, stringAt, type JsonObject } from '../../json/index.js'
import { dateInterval, ALL_TIME, hull, intervalTests, splitPrefix, type Interval, type Range } from '../written-values.js'
import { boundsOnly, invalidValue, type Alternatives, type Ask, type SearchKind } from './kind.js'

export const dateKind: SearchKind = {
  name: 'date',
  fields: (value) => {
    const interval = timeOf(value)
    return interval === undefined ? [] : [interval]
  },
  modifiers: [],
  negatable: false,
  alternatives: (ask): Alternatives => {
    const [prefix, text] = splitPrefix(ask.value)
    return intervalTests(prefix, rangeOf(ask, text))
  },
  sortField: (descending) => (descending ? 'high' : 'low'),
  tuple: { second: { fields: (fields) => [boundsOnly(fields)] } },
}

/** Returns the milliseconds of a search value; for `ap`, with a tolerance of a tenth of its distance from now. */
export function rangeOf(ask: Ask, text: string): Range {
  const exact = dateInterval(text)
  if (exact === undefined) throw invalidValue(ask, 'a date')
  const slack = Math.abs(ask.now - exact.low) / 10
  return { exact, ordered: exact, approximate: { low: exact.low - slack, high: exact.high + slack }, upper: 'le' }
}

/** Returns the interval of a date, dateTime, instant, Period or Timing. */
function timeOf(value: unknown): Interval | undefined {
  if (isString(value)) return dateInterval(value)
  if (!isObject(value)) return undefined
  return stringAt(value, 'start') !== undefined || stringAt(value, 'end') !== undefined ? periodOf(value) : timingOf(value)
}

/** A period that ends before it begins, which R4 forbids (per-1), has both its bounds, so that what reads only one of them finds it. */
function periodOf(period: JsonObject): Interval {
  const start = dateInterval(stringAt(period, 'start') ?? '')
  const end = dateInterval(stringAt(period, 'end') ?? '')
  if (start !== undefined && end !== undefined && start.low > end.high) return hull(start, end)
  return { low: start?.low ?? ALL_TIME.low, high: end?.high ?? ALL_TIME.high }
}

/** Only the outer limits of a Timing count (R4 search 3.1.1.4.7). */
function timingOf(timing: JsonObject): Interval | undefined {
  const events = Array.isArray(timing['event']) ? timing['event'].filter(isString).map(dateInterval) : []
  const bounds = objectAt(objectAt(timing, 'repeat'), 'boundsPeriod')
  const known = [...events, bounds && periodOf(bounds)].filter((interval) => interval !== undefined)
  const [first, ...others] = known
  return first && others.reduce(hull, first)
}
