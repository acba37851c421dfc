import { firstWhere } from '../bits/index.js'

/** Row numbers in ascending order of their places. Rows may be added in any order; those that are no longer current stay among them. */
export interface RowOrder<Place> {
  add(row: number): void
  /** @yields The rows behind a place, or all of them. */
  after(place: Place | undefined): Generator<number, void, undefined>
}

/** What an order is made of. */
export interface Ordering<Place> {
  readonly placeOf: (row: number) => Place
  /** As for `sort`. */
  readonly compare: (a: Place, b: Place) => number
}

/** This part of what is sorted may be kept apart before it is sorted in. */
const PART_APART = 1 / 64

/** Only numbers are kept of what is sorted: places are made again where they are looked at, which is seldom. */
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
      // What is added while somebody goes through the rows is for the next one.
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
