import type { NumberComparison } from '../storage/index.js'

/** One number field of the entries of a search parameter. A comparison goes through all entries: a million take about as long as a page of results. */
export interface NumberColumn {
  /** Sets the number of an entry that comes after all entries with a number. */
  set(entry: number, number: number): void
  has(entry: number): boolean
  at(entry: number): number | undefined
  /** Visits the entries whose number satisfies a comparison, ascending. */
  visit(comparison: NumberComparison, visit: (entry: number) => void): void
  /** Returns a test of single entries. */
  test(comparison: NumberComparison): (entry: number) => boolean
}

/** Stands for an absent number: every comparison with it is false. */
const ABSENT = Number.NaN

/** Creates an empty column. */
export function createNumberColumn(): NumberColumn {
  let numbers = new Float64Array()
  let length = 0
  const grow = (size: number): void => {
    const larger = new Float64Array(Math.max(64, numbers.length * 2, size)).fill(ABSENT, numbers.length)
    larger.set(numbers)
    numbers = larger
  }
  const at = (entry: number): number => numbers[entry] ?? ABSENT
  return {
    set(entry, number) {
      if (entry >= numbers.length) grow(entry + 1)
      numbers[entry] = number
      length = entry + 1
    },
    has: (entry) => !Number.isNaN(at(entry)),
    at(entry) {
      const number = at(entry)
      return Number.isNaN(number) ? undefined : number
    },
    visit(comparison, visit) {
      const { from, to, but } = spanOf(comparison)
      const all = numbers.subarray(0, length)
      for (let entry = 0; entry < all.length; entry++) {
        const number = all[entry] ?? ABSENT
        if (number >= from && number <= to && number !== but) visit(entry)
      }
    },
    test(comparison) {
      const { from, to, but } = spanOf(comparison)
      return (entry) => {
        const number = at(entry)
        return number >= from && number <= to && number !== but
      }
    },
  }
}

/** The numbers that satisfy a comparison, without a choice of operators for each. */
interface Span {
  readonly from: number
  readonly to: number
  /** The bound that does not belong to the span; NaN, which no number equals, if both do. */
  readonly but: number
}

function spanOf({ op, operand }: NumberComparison): Span {
  return {
    from: op === 'lt' || op === 'le' ? -Infinity : operand,
    to: op === 'gt' || op === 'ge' ? Infinity : operand,
    but: op === 'lt' || op === 'gt' ? operand : Number.NaN,
  }
}
