import { isObject, objectAt } from '../../json/index.js'
import { ALL_NUMBERS, type Interval } from '../values/interval.js'
import { intervalTests, splitPrefix, type Range } from '../values/prefix.js'
import { writtenNumber } from '../values/decimal-interval.js'
import { invalidValue, type Alternatives, type Ask, type SearchKind } from './kind.js'

export const numberKind: SearchKind = {
  fields: (value) => {
    if (typeof value === 'number') return [{ low: value, high: value }]
    const range = isObject(value) ? rangeBounds(objectAt(value, 'low')?.['value'], objectAt(value, 'high')?.['value']) : undefined
    return range === undefined ? [] : [range]
  },
  modifiers: [],
  negatable: false,
  alternatives: (ask) => numberTests(ask, ask.value),
  sortField: (descending) => (descending ? 'high' : 'low'),
}

/** Reads a number with its prefix. Its precision counts for `eq` and `ne` only (R4 search 3.1.1.4.5). */
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

/** The bounds of a Range; `undefined` when both ends are open. */
export function rangeBounds(low: unknown, high: unknown): Interval | undefined {
  if (typeof low !== 'number' && typeof high !== 'number') return undefined
  return {
    low: typeof low === 'number' ? low : ALL_NUMBERS.low,
    high: typeof high === 'number' ? high : ALL_NUMBERS.high,
  }
}
