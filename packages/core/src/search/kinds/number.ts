import { isObject, objectAt } from '../../json/index.js'
import { ALL_NUMBERS, intervalTests, splitPrefix, type Interval, type Range } from '../written-values.js'
import { boundsOnly, invalidValue, type Alternatives, type Ask, type SearchKind } from './kind.js'

export const numberKind: SearchKind = {
  name: 'number',
  fields: (value) => {
    if (typeof value === 'number') return [{ low: value, high: value }]
    const range = isObject(value) ? rangeBounds(objectAt(value, 'low')?.['value'], objectAt(value, 'high')?.['value']) : undefined
    return range === undefined ? [] : [range]
  },
  modifiers: [],
  negatable: false,
  alternatives: (ask) => numberTests(ask, ask.value),
  sortField: (descending) => (descending ? 'high' : 'low'),
  tuple: { second: { fields: (fields) => [boundsOnly(fields)] }, coordinate: (ask) => numberTests(ask, ask.value) },
}

/** Parses a number with its prefix. Its precision matters only for `eq` and `ne` (R4 search 3.1.1.4.6). */
export function numberTests(ask: Ask, text: string): Alternatives {
  const [prefix, digits] = splitPrefix(text)
  const written = writtenNumber(digits)
  if (written === undefined) throw invalidValue(ask, 'a number')
  const { value, rounded } = written
  const slack = Math.abs(value) / 10
  const range: Range = {
    exact: rounded,
    ordered: { low: value, high: value },
    approximate: { low: value - slack, high: value + slack },
    upper: 'lt',
  }
  return intervalTests(prefix, range)
}

/** Returns the bounds of a Range; `undefined` when both ends are open. */
export function rangeBounds(low: unknown, high: unknown): Interval | undefined {
  if (typeof low !== 'number' && typeof high !== 'number') return undefined
  return {
    low: typeof low === 'number' ? low : ALL_NUMBERS.low,
    high: typeof high === 'number' ? high : ALL_NUMBERS.high,
  }
}

/** A number as written in a search. */
interface WrittenNumber {
  readonly value: number
  /** The numbers that round to it: from `low` up to, but not including, `high`. */
  readonly rounded: Interval
}

/** Parses a FHIR decimal; `undefined` for any other text. `5.40` means 5.395 to 5.405, `1e2` means 50 to 150. */
export function writtenNumber(text: string): WrittenNumber | undefined {
  const parts = /^[+-]?\d{1,40}(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text)
  const value = Number(text)
  if (parts === null || !Number.isFinite(value)) return undefined
  const [, decimals = '', exponent = '0'] = parts
  const half = 0.5 * 10 ** (Number(exponent) - decimals.length)
  return { value, rounded: { low: withoutNoise(value - half), high: withoutNoise(value + half) } }
}

/** 5.4 - 0.05 is 5.3500000000000005 in binary; 15 digits are exact. */
function withoutNoise(value: number): number {
  return Number(value.toPrecision(15))
}
