import { addBit, addBits, countBits, countBoth, emptyBits, firstOfBoth, hasBit, membersOf, ranksOf, firstWhere } from './bits.js'
import type { Work } from '../work/index.js'

/** An immutable set of whole numbers from 0 up to a fixed limit. The count is computed once. */
export interface Bitmap {
  /** Upper bound of the members, exclusive. */
  readonly limit: number
  readonly words: Uint32Array
  /** The members in ascending order, if the set was created from a short list. */
  readonly few?: Uint32Array
  has(position: number): boolean
  count(): number
  /** `ranksOf` the words, computed once; absent if the set has a list of members. */
  ranks?(): Uint32Array
}

/** A bitmap over words that are no longer written to. */
export function bitmapOf(words: Uint32Array, limit: number): Bitmap {
  let counted: number | undefined
  let ranked: Uint32Array | undefined
  return {
    limit,
    words,
    has: (position) => hasBit(words, position),
    count: () => (counted ??= countBits(words)),
    ranks: () => (ranked ??= ranksOf(words)),
  }
}

/** A bitmap of few members, given in ascending order without duplicates. Its words are created on first access. */
export function fewBitmap(few: Uint32Array, limit: number): Bitmap {
  let made: Uint32Array | undefined
  return {
    limit,
    few,
    get words() {
      return (made ??= bitmapFrom(few, limit).words)
    },
    has: (position) => few[firstWhere(few.length, (i) => (few[i] ?? 0) >= position)] === position,
    count: () => few.length,
  }
}

/** The same set, as a list of its members if that takes much less memory. */
export function compacted(bitmap: Bitmap): Bitmap {
  if (bitmap.few !== undefined || !isFew(bitmap.count(), bitmap.limit)) return bitmap
  return fewBitmap(Uint32Array.from(members(bitmap)), bitmap.limit)
}

/** True if a list of the members takes at most an eighth of the memory of the words. */
function isFew(count: number, limit: number): boolean {
  return count <= limit >>> 8
}

/** A bitmap without members. */
export function emptyBitmap(limit: number): Bitmap {
  return bitmapOf(emptyBits(limit), limit)
}

/** A set of the numbers from `start` up to but not including `end`. */
export function rangeBitmap(start: number, end: number, limit: number): Bitmap {
  if (end - start <= SHORT_RANGE) return shortRange(start, end, limit)
  const words = emptyBits(limit)
  const first = start >>> 5
  const last = end >>> 5
  words.fill(0xffffffff, first, last)
  if (last < words.length) words[last] = lowBits(end & 31)
  words[first] = (words[first] ?? 0) & ~lowBits(start & 31)
  return bitmapOf(words, limit)
}

/** Up to this length, a range costs less as a list (bench `hostile`: one range for each leaf of a hierarchy). */
const SHORT_RANGE = 32

function shortRange(start: number, end: number, limit: number): Bitmap {
  const few = new Uint32Array(Math.max(0, Math.min(end, limit) - start))
  for (let i = 0; i < few.length; i++) few[i] = start + i
  return fewBitmap(few, limit)
}

/** Creates a set of numbers, given in any order. Numbers outside the limit are ignored. */
export function bitmapFrom(positions: Iterable<number>, limit: number): Bitmap {
  const words = emptyBits(limit)
  for (const position of positions) if (position < limit) addBit(words, position)
  return bitmapOf(words, limit)
}

/** Up to this many numbers, a sorted list costs less than a bitmap (bench `terminology`). */
const FEW = 512

/** Creates a set of numbers below the limit, given in any order, possibly with duplicates. */
export function gatheredBitmap(positions: Uint32Array, limit: number): Bitmap {
  if (positions.length <= FEW) return fewBitmap(onceEach(positions.slice().sort()), limit)
  const words = emptyBits(limit)
  for (const position of positions) addBit(words, position)
  return bitmapOf(words, limit)
}

function onceEach(sorted: Uint32Array): Uint32Array {
  return sorted.filter((position, i) => i === 0 || position !== sorted[i - 1])
}

/** Creates a set of numbers below the limit, given in ascending order without duplicates. */
export function ascendingBitmap(positions: readonly number[], limit: number): Bitmap {
  return isFew(positions.length, limit) ? fewBitmap(Uint32Array.from(positions), limit) : bitmapFrom(positions, limit)
}

/** A set of the numbers below the limit that pass a test. */
export function* testedBitmap(limit: number, accept: (position: number) => boolean): Work<Bitmap> {
  const words = emptyBits(limit)
  for (let position = 0; position < limit; position++) {
    if (position % STEPS === 0) yield
    if (accept(position)) addBit(words, position)
  }
  return bitmapOf(words, limit)
}

const STEPS = 256

/** The intersection of two sets. */
export function and(a: Bitmap, b: Bitmap): Bitmap {
  return fewOf(a, b) ?? denseAnd(a, b)
}

/** Does not use `combined`, because a call per word costs more than the operation (bench `terminology`, is-a, property and two letters). */
function denseAnd(a: Bitmap, b: Bitmap): Bitmap {
  const words = a.words.slice()
  const others = b.words
  for (let i = 0; i < words.length; i++) words[i] = (words[i] ?? 0) & (others[i] ?? 0)
  return bitmapOf(words, Math.max(a.limit, b.limit))
}

/**
 * The intersection of two sets, for a short-lived result of which only the count and some members are needed: creates no words, and asks both sets for
 * each member, so it must not be nested without bound.
 */
export function fleetingAnd(a: Bitmap, b: Bitmap): Bitmap {
  const few = fewOf(a, b)
  if (few !== undefined) return few
  const limit = Math.max(a.limit, b.limit)
  const count = countBoth(a.words, b.words)
  if (isFew(count, limit)) return fewBitmap(firstOfBoth(a.words, b.words, count), limit)
  return {
    limit,
    get words() {
      return denseAnd(a, b).words
    },
    has: (position) => a.has(position) && b.has(position),
    count: () => count,
  }
}

function fewOf(a: Bitmap, b: Bitmap): Bitmap | undefined {
  if (a.few !== undefined)
    return fewBitmap(
      a.few.filter((position) => b.has(position)),
      a.limit,
    )
  if (b.few !== undefined)
    return fewBitmap(
      b.few.filter((position) => a.has(position)),
      b.limit,
    )
  return undefined
}

/** The union of two sets. */
export function or(a: Bitmap, b: Bitmap): Bitmap {
  return combined(a, b, (x, y) => x | y)
}

/** The difference of two sets: the members of the first that are not in the second. */
export function andNot(a: Bitmap, b: Bitmap): Bitmap {
  if (a.few !== undefined)
    return fewBitmap(
      a.few.filter((position) => !b.has(position)),
      a.limit,
    )
  return combined(a, b, (x, y) => x & ~y)
}

/** Skipping fewer members than this takes no longer than finding a block by its rank. */
const FAR = 1_024

/** Iterates over the members in ascending order, without the first `skip` of them. */
export function members(bitmap: Bitmap, skip = 0): Iterable<number> {
  if (bitmap.few !== undefined) return bitmap.few.subarray(skip)
  return membersOf(bitmap.words, skip, skip < FAR ? undefined : bitmap.ranks?.())
}

/** Adds the members of a set to `words`. */
export function addMembers(words: Uint32Array, set: Bitmap): void {
  if (set.few !== undefined) for (const position of set.few) addBit(words, position)
  else addBits(words, set.words)
}

function combined(a: Bitmap, b: Bitmap, join: (x: number, y: number) => number): Bitmap {
  const [left, right] = [a.words, b.words]
  const words = new Uint32Array(Math.max(left.length, right.length))
  for (let i = 0; i < words.length; i++) words[i] = join(left[i] ?? 0, right[i] ?? 0)
  return bitmapOf(words, Math.max(a.limit, b.limit))
}

function lowBits(count: number): number {
  return count === 0 ? 0 : 0xffffffff >>> (32 - count)
}
