import type { SupplementValues } from '../languages/index.js'
import type { StratumValue } from '../tally.js'
import { compareText, isBefore, type SumOfValue } from './sums.js'

/** Adds up supplemental data, or a risk adjustment factor, of subjects, in any order. */
interface SupplementTotal {
  /** Adds the values of a subject, by their keys. */
  add(subject: string, values: ReadonlyMap<string, StratumValue>): void
  /** Adds the values of other subjects. */
  addSum(sum: readonly SumOfValue[]): void
  /** The sum so far. */
  sum(): readonly SumOfValue[]
  values(): SupplementValues['values']
}

/** Creates the total of one of the Measure's supplements. */
export function supplementTotal(): SupplementTotal {
  const values = new Map<string, SumOfValue>()
  const addOne = ({ key, value, count, first }: SumOfValue): void => {
    const known = values.get(key)
    // Values with the same key may have other displays: the first subject decides, in whatever order subjects are added.
    const earliest = known === undefined || isBefore(first, known.first) ? { value, first } : { value: known.value, first: known.first }
    values.set(key, { key, ...earliest, count: (known?.count ?? 0) + count })
  }
  return {
    add: (subject, own) => {
      let place = 0
      for (const [key, value] of own) addOne({ key, value, count: 1, first: { subject, place: place++ } })
    },
    addSum: (sum) => {
      for (const one of sum) addOne(one)
    },
    sum: () => [...values.values()],
    values: () =>
      [...values.values()]
        .toSorted((one, other) => compareText(one.first.subject, other.first.subject) || one.first.place - other.first.place)
        .map(({ value, count }) => ({ value, count })),
  }
}
