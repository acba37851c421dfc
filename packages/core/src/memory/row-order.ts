import { firstWhere } from '../bits/index.js'
import { numberHolds, type IndexEntry, type NumberComparison } from '../storage/index.js'

/** Row numbers in ascending order of their places. Rows may be added in any order; those that are no longer current stay in it. */
export interface RowOrder<Place> {
  add(row: number): void
  /** @yields The rows after a place, or all of them. */
  after(place: Place | undefined): Generator<number, void, undefined>
}

/** The definition of an order. */
export interface Ordering<Place> {
  readonly placeOf: (row: number) => Place
  /** As for `sort`. */
  readonly compare: (a: Place, b: Place) => number
}

/** Fraction of the sorted rows that may be kept apart before they are merged into these. */
const PART_APART = 1 / 64

/** Creates an order that keeps only row numbers. Places are computed again when they are needed, which is seldom. */
export function createRowOrder<Place>(ordering: Ordering<Place>): RowOrder<Place> {
  const { placeOf, compare } = ordering
  let sorted: readonly number[] = []
  let added: number[] = []
  let apart: readonly number[] = []
  const tidy = (): void => {
    if (added.length === 0) return
    const placed = [...apart, ...added].map((row) => ({ row, place: placeOf(row) })).sort((a, b) => compare(a.place, b.place))
    added = []
    apart = placed.map(({ row }) => row)
    if (apart.length <= sorted.length * PART_APART) return
    sorted = merged(ordering, sorted, placed)
    apart = []
  }
  return {
    add: (row) => void added.push(row),
    after(place) {
      tidy()
      // Rows that are added during an iteration appear in the next one.
      return inTurn(ordering, [sorted, apart], place)
    },
  }
}

function* inTurn<Place>(
  ordering: Ordering<Place>,
  [main, others]: readonly [readonly number[], readonly number[]],
  place: Place | undefined,
): Generator<number, void, undefined> {
  let left = place === undefined ? 0 : startAfter(ordering, main, place)
  let right = place === undefined ? 0 : startAfter(ordering, others, place)
  for (;;) {
    const a = main[left]
    const b = others[right]
    const isLeft = b === undefined || (a !== undefined && ordering.compare(ordering.placeOf(a), ordering.placeOf(b)) <= 0)
    const next = isLeft ? a : b
    if (next === undefined) return
    yield next
    if (isLeft) left++
    else right++
  }
}

function startAfter<Place>({ placeOf, compare }: Ordering<Place>, rows: readonly number[], place: Place): number {
  return firstWhere(rows.length, (index) => compare(placeOf(rows[index] ?? 0), place) > 0)
}

interface PlacedRow<Place> {
  readonly row: number
  readonly place: Place
}

function merged<Place>(ordering: Ordering<Place>, rows: readonly number[], placed: readonly PlacedRow<Place>[]): readonly number[] {
  const all: number[] = []
  let from = 0
  for (const { row, place } of placed) {
    const to = startAfter(ordering, rows, place)
    for (; from < to; from++) all.push(rows[from] ?? 0)
    all.push(row)
  }
  for (; from < rows.length; from++) all.push(rows[from] ?? 0)
  return all
}

/** Positions of entries in the order of one number field. Built at first use; later entries are merged when they have become many. */
export interface NumberOrder {
  /** Lists of the positions whose number satisfies the comparison. */
  positions(comparison: NumberComparison): readonly ArrayLike<number>[]
}

const NOTHING: PlacedNumbers = { values: new Float64Array(), positions: new Uint32Array() }
/** Fraction of the sorted entries that may be added, and searched one by one, before they are merged into these. */
const UNSORTED_PART = 1 / 16

/** Creates the order of entries by one number field. */
export function createNumberOrder(field: NumberComparison['field'], entries: readonly IndexEntry[]): NumberOrder {
  let sorted = NOTHING
  let upTo = 0
  return {
    positions(comparison) {
      let added = numbersFrom(field, entries, upTo)
      if (added.values.length > sorted.values.length * UNSORTED_PART) {
        sorted = mergedNumbers(sorted, inOrder(added))
        upTo = entries.length
        added = NOTHING
      }
      const { values, positions } = sorted
      const start = firstWhere(values.length, (index) => (values[index] ?? 0) >= comparison.operand)
      const end = firstWhere(values.length, (index) => (values[index] ?? 0) > comparison.operand)
      const others = added.positions.filter((_, index) => numberHolds(added.values[index] ?? 0, comparison))
      return [positions.subarray(...SPANS[comparison.op](start, end)), others]
    },
  }
}

/** The span of the sorted numbers that satisfies the comparison; `start` to `end` are those equal to the operand. */
const SPANS: Readonly<Record<NumberComparison['op'], (start: number, end: number) => [number, number?]>> = {
  eq: (start, end) => [start, end],
  lt: (start) => [0, start],
  le: (_, end) => [0, end],
  gt: (_, end) => [end],
  ge: (start) => [start],
}

/** Numbers with their positions. */
interface PlacedNumbers {
  readonly values: Float64Array
  readonly positions: Uint32Array
}

function numbersFrom(field: NumberComparison['field'], entries: readonly IndexEntry[], from: number): PlacedNumbers {
  const values = new Float64Array(entries.length - from)
  const positions = new Uint32Array(entries.length - from)
  let length = 0
  for (let position = from; position < entries.length; position++) {
    const value = entries[position]?.[field]
    if (value === undefined) continue
    values[length] = value
    positions[length++] = position
  }
  return { values: values.subarray(0, length), positions: positions.subarray(0, length) }
}

/** Sorts in ascending order. Numbers alone are sorted much faster than with a comparison function; each position then goes after those of the same number. */
function inOrder(numbers: PlacedNumbers): PlacedNumbers {
  const values = numbers.values.toSorted()
  const positions = new Uint32Array(values.length)
  /** For the first place of each number, the number of positions that were put there and after it. */
  const placed = new Uint32Array(values.length)
  for (const [index, value] of numbers.values.entries()) {
    const first = firstWhere(values.length, (place) => (values[place] ?? 0) >= value)
    const others = placed[first] ?? 0
    positions[first + others] = numbers.positions[index] ?? 0
    placed[first] = others + 1
  }
  return { values, positions }
}

function mergedNumbers(a: PlacedNumbers, b: PlacedNumbers): PlacedNumbers {
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
