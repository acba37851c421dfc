import type { Comparison } from '../../storage/index.js'

/** A span of numbers or of milliseconds since 1970. */
export interface Interval {
  readonly low: number
  readonly high: number
}

/** Open ends of times: the first and the last that `Date` knows. */
export const ALL_TIME: Interval = { low: -8_640_000_000_000_000, high: 8_640_000_000_000_000 }

/** Open ends of numbers. */
export const ALL_NUMBERS: Interval = { low: -Number.MAX_VALUE, high: Number.MAX_VALUE }

/** The smallest interval that contains both. */
export function hull(a: Interval, b: Interval): Interval {
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) }
}

/** The comparisons of ordered values. @see https://hl7.org/fhir/R4/search.html#prefix */
export type SearchPrefix = 'eq' | 'ne' | 'gt' | 'lt' | 'ge' | 'le' | 'sa' | 'eb' | 'ap'

/** Takes the prefix from a value; `eq` when there is none. */
export function splitPrefix(value: string): readonly [prefix: SearchPrefix, rest: string] {
  const found = PREFIXES.find((prefix) => value.startsWith(prefix))
  return found === undefined ? ['eq', value] : [found, value.slice(found.length)]
}

const PREFIXES: readonly SearchPrefix[] = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']

/** What is compared with the interval of an entry. Bounds are inclusive. */
export interface Range {
  /** What the value means for `eq` and `ne`. */
  readonly exact: Interval
  /** What it means for the ordering prefixes. */
  readonly ordered: Interval
  /** What it means for `ap`. */
  readonly approximate: Interval
  /** `lt` when the upper bound of `exact` is not part of it. */
  readonly upper: 'le' | 'lt'
}

/** Alternatives, one of which must hold for an entry: how its `low` and `high` lie to the range. */
export function intervalTests(prefix: SearchPrefix, range: Range): readonly (readonly Comparison[])[] {
  return TESTS[prefix](range)
}

const TESTS: Readonly<Record<SearchPrefix, (range: Range) => readonly (readonly Comparison[])[]>> = {
  // Nothing ends before it begins, but bounds `low` on both sides, so that an index finds few.
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
