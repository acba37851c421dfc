import { firstWhere } from '../bits/index.js'
import { numberHolds, type IndexEntry, type NumberComparison } from '../storage/index.js'

/** Positions of entries in the order of one number field. Built at first use; what is added later is sorted in when it has become much. */
export interface NumberOrder {
  /** Lists of the positions whose number satisfies the comparison. */
  positions(comparison: NumberComparison): readonly ArrayLike<number>[]
}

/** This part of what is sorted may be added, and is looked at one by one, before it is sorted in. */
const UNSORTED_PART = 1 / 16

export function createNumberOrder(field: NumberComparison['field'], entries: readonly IndexEntry[]): NumberOrder {
  let sorted: SortedNumbers = { values: new Float64Array(), positions: new Uint32Array() }
  let upTo = 0
  return {
    positions(comparison) {
      let added = numbersFrom(field, entries, upTo)
      if (added.length > sorted.values.length * UNSORTED_PART) {
        sorted = merged(sorted, inOrder(added))
        upTo = entries.length
        added = []
      }
      const { values, positions } = sorted
      const start = firstWhere(values.length, (index) => (values[index] ?? 0) >= comparison.operand)
      const end = firstWhere(values.length, (index) => (values[index] ?? 0) > comparison.operand)
      const others = added.filter(({ value }) => numberHolds(value, comparison))
      return [positions.subarray(...SPANS[comparison.op](start, end)), others.map(({ position }) => position)]
    },
  }
}

/** Of the numbers in order: the part that satisfies the comparison, where `start` to `end` are those equal to the operand. */
const SPANS: Readonly<Record<NumberComparison['op'], (start: number, end: number) => [number, number?]>> = {
  eq: (start, end) => [start, end],
  lt: (start) => [0, start],
  le: (_, end) => [0, end],
  gt: (_, end) => [end],
  ge: (start) => [start],
}

interface PlacedNumber {
  readonly value: number
  readonly position: number
}

function numbersFrom(field: NumberComparison['field'], entries: readonly IndexEntry[], from: number): readonly PlacedNumber[] {
  const numbers: PlacedNumber[] = []
  for (let position = from; position < entries.length; position++) {
    const value = entries[position]?.[field]
    if (value !== undefined) numbers.push({ value, position })
  }
  return numbers
}

/** Numbers in ascending order, each with its position. */
interface SortedNumbers {
  readonly values: Float64Array
  readonly positions: Uint32Array
}

function inOrder(numbers: readonly PlacedNumber[]): SortedNumbers {
  const ordered = numbers.toSorted((a, b) => a.value - b.value)
  return { values: Float64Array.from(ordered, ({ value }) => value), positions: Uint32Array.from(ordered, ({ position }) => position) }
}

function merged(a: SortedNumbers, b: SortedNumbers): SortedNumbers {
  const length = a.values.length + b.values.length
  const values = new Float64Array(length)
  const positions = new Uint32Array(length)
  let left = 0
  let right = 0
  for (let index = 0; index < length; index++) {
    const isLeft = right === b.values.length || (left < a.values.length && (a.values[left] ?? 0) <= (b.values[right] ?? 0))
    const source = isLeft ? a : b
    const from = isLeft ? left++ : right++
    values[index] = source.values[from] ?? 0
    positions[index] = source.positions[from] ?? 0
  }
  return { values, positions }
}
