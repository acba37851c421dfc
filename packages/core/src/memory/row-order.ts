import { firstWhere } from '../bits/index.js'
import { finished, sharedWork, type Work } from '../work/index.js'

/** Row numbers in ascending order of their places; those that are no longer current stay in it. Rows are sorted when the order is used. */
export interface RowOrder<Place> {
  /** True if few rows are not sorted yet, so that `after` takes only a moment. */
  isReady(): boolean
  /**
   * Counts matches that are about to be looked through without the order. True if that takes longer than sorting its rows, or if it does together with
   * what was counted since the last time.
   */
  isWorth(matches: number): boolean
  /** Sorts the rows that are new, in steps. Several callers may continue at the same time: whichever does, does the next piece. */
  catchUp(): Work<void>
  /** @yields The rows after a place, or all of them. */
  after(place: Place | undefined): Generator<number, void, undefined>
}

/** The definition of an order. */
interface Ordering<Place> {
  readonly placeOf: (row: number) => Place
  /** As for `sort`. */
  readonly compare: (a: Place, b: Place) => number
  /** Number of rows, which are numbered from 0. */
  readonly size: () => number
}

/** If at most one in this many rows matches, looking through the matches once is much faster than sorting all rows. */
const SMALL_PART = 64
/** Number of rows that are sorted in a step. */
const RUN = 1_024
/** Number of rows that are merged in a step. */
const STEP = 256
/** Fraction of the sorted rows that may be kept apart before they are merged into these. */
const PART_APART = 1 / 256

const NO_ROWS: Uint32Array = new Uint32Array()

/** Creates an order that keeps only row numbers. Places are computed again when they are needed, which is seldom. */
export function createRowOrder<Place>(ordering: Ordering<Place>): RowOrder<Place> {
  const { size } = ordering
  let sorted = NO_ROWS
  let apart = NO_ROWS
  let upTo = 0
  let lookedThrough = 0
  let building: (() => Work<void>) | undefined
  const isReady = (): boolean => size() - upTo <= RUN
  function* build(): Work<void> {
    let runs = [sorted, apart]
    const end = size()
    const places: Place[] = []
    const once = { ...ordering, placeOf: (row: number): Place => (places[row] ??= ordering.placeOf(row)) }
    for (let from = upTo; from < end; from += RUN) {
      runs.push(sortedRun(once, from, Math.min(from + RUN, end)))
      yield
    }
    while (runs.length > 1) {
      const longer: Uint32Array[] = []
      for (let at = 0; at < runs.length; at += 2) longer.push(yield* mergedPair(once, runs[at] ?? NO_ROWS, runs[at + 1] ?? NO_ROWS))
      runs = longer
    }
    sorted = runs[0] ?? NO_ROWS
    apart = NO_ROWS
    upTo = end
    building = undefined
  }
  function* catchUp(): Work<void> {
    while (!isReady()) {
      building ??= sharedWork(build)
      yield* building()
    }
  }
  const tidy = (): void => {
    if (upTo === size()) return
    apart = withRows(ordering, apart, sortedRun(ordering, upTo, size()))
    upTo = size()
    if (apart.length <= sorted.length * PART_APART) return
    sorted = withRows(ordering, sorted, apart)
    apart = NO_ROWS
  }
  return {
    isReady,
    isWorth(matches) {
      lookedThrough += matches
      if (lookedThrough < size() && matches * SMALL_PART < size()) return false
      lookedThrough = 0
      return true
    },
    catchUp,
    after(place) {
      finished(catchUp())
      tidy()
      // Rows that are added during an iteration appear in the next one.
      return inTurn(ordering, [sorted, apart], place)
    },
  }
}

function* inTurn<Place>(
  ordering: Ordering<Place>,
  [main, others]: readonly [Uint32Array, Uint32Array],
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

function startAfter<Place>({ placeOf, compare }: Ordering<Place>, rows: Uint32Array, place: Place): number {
  return firstWhere(rows.length, (index) => compare(placeOf(rows[index] ?? 0), place) > 0)
}

function sortedRun<Place>({ placeOf, compare }: Ordering<Place>, from: number, to: number): Uint32Array {
  const placed = Array.from({ length: to - from }, (_, index) => ({ row: from + index, place: placeOf(from + index) }))
  return Uint32Array.from(
    placed.sort((a, b) => compare(a.place, b.place)),
    ({ row }) => row,
  )
}

function* mergedPair<Place>({ placeOf, compare }: Ordering<Place>, a: Uint32Array, b: Uint32Array): Work<Uint32Array> {
  const merged = new Uint32Array(a.length + b.length)
  let [left, right] = [0, 0]
  let [leftPlace, rightPlace] = [placeOf(a[0] ?? 0), placeOf(b[0] ?? 0)]
  while (left < a.length && right < b.length) {
    if ((left + right) % STEP === 0) yield
    if (compare(leftPlace, rightPlace) <= 0) {
      merged[left + right] = a[left] ?? 0
      leftPlace = placeOf(a[++left] ?? 0)
    } else {
      merged[left + right] = b[right] ?? 0
      rightPlace = placeOf(b[++right] ?? 0)
    }
  }
  merged.set(a.subarray(left), left + right)
  merged.set(b.subarray(right), left + right + a.length - left)
  return merged
}

/** Merges a few sorted rows into many, whose places are looked up by halves. */
function withRows<Place>(ordering: Ordering<Place>, many: Uint32Array, few: Uint32Array): Uint32Array {
  const merged = new Uint32Array(many.length + few.length)
  let from = 0
  for (const [index, row] of few.entries()) {
    const to = startAfter(ordering, many, ordering.placeOf(row))
    merged.set(many.subarray(from, to), from + index)
    merged[to + index] = row
    from = to
  }
  merged.set(many.subarray(from), from + few.length)
  return merged
}
