import type { Work } from '../../work/index.js'

/** A column of integers. */
export interface Column {
  at(row: number): number
  length(): number
}

/** Rows sorted by a number, ascending. */
interface CountingOrder {
  readonly order: Uint32Array
  /** Start of the rows of each number; the last element is the end. */
  readonly starts: Uint32Array
}

/**
 * Frees the memory of temporary columns, which must not be used afterwards. Otherwise it is free only after the next collection of the whole heap, and a
 * server with 100,000 concepts has 14 MB more after its first text filter (bench `memory`).
 */
export function release(...columns: readonly Uint32Array[]): void {
  for (const { buffer } of columns) if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

const STEPS = 2_048

/**
 * Sorts rows by a number below the limit, in linear time. Rows with the same number keep their order.
 *
 * @param before The initial order of the rows; by row when absent.
 */
export function* countingOrder(numbers: Column, limit: number, before: Uint32Array | undefined): Work<CountingOrder> {
  const starts = yield* startsOf(numbers, limit)
  const next = starts.slice()
  const order = new Uint32Array(numbers.length())
  for (let i = 0; i < order.length; i++) {
    const row = before === undefined ? i : (before[i] ?? 0)
    const number = numbers.at(row)
    order[next[number] ?? 0] = row
    next[number] = (next[number] ?? 0) + 1
    if (i % STEPS === 0) yield
  }
  release(next)
  return { order, starts }
}

/** Copies the numbers of rows into an array, in the given order. */
export function* inOrder<T extends Uint32Array | Uint16Array>(order: Uint32Array, numbers: Pick<Column, 'at'>, into: T): Work<T> {
  for (let i = 0; i < order.length; i++) {
    into[i] = numbers.at(order[i] ?? 0)
    if (i % STEPS === 0) yield
  }
  return into
}

function* startsOf(numbers: Column, limit: number): Work<Uint32Array> {
  const starts = new Uint32Array(limit + 1)
  for (let row = 0; row < numbers.length(); row++) {
    const after = numbers.at(row) + 1
    starts[after] = (starts[after] ?? 0) + 1
    if (row % STEPS === 0) yield
  }
  for (let i = 1; i <= limit; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0)
  return starts
}

const RUN = 256

/** Returns the positions of texts in ascending order (UTF-16 code units), equal texts by position. A merge sort, because it can be interrupted. */
export function* sortedPlaces(texts: readonly string[]): Work<Uint32Array> {
  let sorted = new Uint32Array(texts.length)
  for (let place = 0; place < sorted.length; place++) sorted[place] = place
  for (let start = 0; start < sorted.length; start += RUN) {
    sorted.subarray(start, start + RUN).sort((a, b) => compareAt(texts, a, b))
    yield
  }
  let merged = new Uint32Array(sorted.length)
  for (let width = RUN; width < sorted.length; width *= 2) {
    yield* mergeRuns({ texts, from: sorted, to: merged }, width)
    ;[sorted, merged] = [merged, sorted]
  }
  release(merged)
  return sorted
}

interface Merging {
  readonly texts: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
}

function* mergeRuns({ texts, from, to }: Merging, width: number): Work<void> {
  for (let start = 0; start < from.length; start += 2 * width) {
    const middle = Math.min(start + width, from.length)
    const end = Math.min(start + 2 * width, from.length)
    let [left, right] = [start, middle]
    for (let at = start; at < end; at++) {
      const takesLeft = right >= end || (left < middle && compareAt(texts, from[left] ?? 0, from[right] ?? 0) <= 0)
      to[at] = from[takesLeft ? left++ : right++] ?? 0
      if (at % STEPS === 0) yield
    }
  }
}

function compareAt(texts: readonly string[], a: number, b: number): number {
  const [left, right] = [texts[a] ?? '', texts[b] ?? '']
  if (left === right) return a - b
  return left < right ? -1 : 1
}
