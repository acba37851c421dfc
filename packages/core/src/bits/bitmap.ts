import { addBit, addBits, countBits, countBoth, emptyBits, firstOfBoth, hasBit, membersOf, ranksOf, firstWhere } from './bits.js'
import type { Work } from '../work/index.js'

/** A set of whole numbers from 0 to a fixed limit. Never changed after it was made; the count is kept once known. */
export interface Bitmap {
  /** One more than the largest number that it can hold. */
  readonly limit: number
  readonly words: Uint32Array
  /** The members in ascending order, where they are so few that it was made of them. */
  readonly few?: Uint32Array
  has(position: number): boolean
  count(): number
  /** `ranksOf` of the words, kept once made; absent where nothing has to be counted. */
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

/** A bitmap of few members, which are in ascending order, each once. Its words are made only when somebody asks for them. */
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

/** The same set, by its members alone where that takes much less memory. */
export function compacted(bitmap: Bitmap): Bitmap {
  if (bitmap.few !== undefined || !isFew(bitmap.count(), bitmap.limit)) return bitmap
  return fewBitmap(Uint32Array.from(members(bitmap)), bitmap.limit)
}

/** True where a list of members takes at most an eighth of the memory of words. */
function isFew(count: number, limit: number): boolean {
  return count <= limit >>> 8
}

/** A bitmap without members. */
export function emptyBitmap(limit: number): Bitmap {
  return bitmapOf(emptyBits(limit), limit)
}

/** The numbers from `start` up to but not including `end`. */
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

/** Up to this length a range costs less as a list (bench `hostile`: one for each leaf of a hierarchy). */
const SHORT_RANGE = 32

function shortRange(start: number, end: number, limit: number): Bitmap {
  const few = new Uint32Array(Math.max(0, Math.min(end, limit) - start))
  for (let i = 0; i < few.length; i++) few[i] = start + i
  return fewBitmap(few, limit)
}

/** Makes a set of numbers, given in any order. Numbers outside the limit are ignored. */
export function bitmapFrom(positions: Iterable<number>, limit: number): Bitmap {
  const words = emptyBits(limit)
  for (const position of positions) if (position < limit) addBit(words, position)
  return bitmapOf(words, limit)
}

/** Up to this many numbers are gathered as a sorted list, which costs less than a bitmap (bench `terminology`). */
const FEW = 512

/** Numbers below the limit in any order, any of them several times. */
export function gatheredBitmap(positions: Uint32Array, limit: number): Bitmap {
  if (positions.length <= FEW) return fewBitmap(onceEach(positions.slice().sort()), limit)
  const words = emptyBits(limit)
  for (const position of positions) addBit(words, position)
  return bitmapOf(words, limit)
}

function onceEach(sorted: Uint32Array): Uint32Array {
  return sorted.filter((position, i) => i === 0 || position !== sorted[i - 1])
}

/** Numbers below the limit that are in ascending order, each once. */
export function ascendingBitmap(positions: readonly number[], limit: number): Bitmap {
  return isFew(positions.length, limit) ? fewBitmap(Uint32Array.from(positions), limit) : bitmapFrom(positions, limit)
}

/** The numbers below the limit that pass a test. */
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

/** Not `combined`, as a call for each word costs more than the word (bench `terminology`, is-a, property and two letters). */
function denseAnd(a: Bitmap, b: Bitmap): Bitmap {
  const words = a.words.slice()
  const others = b.words
  for (let i = 0; i < words.length; i++) words[i] = (words[i] ?? 0) & (others[i] ?? 0)
  return bitmapOf(words, Math.max(a.limit, b.limit))
}

/**
 * The same for sets that are asked for their count and some members and then forgotten: no words are made for it, and every question goes
 * to both, so that it must not be nested without bound.
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

/** The difference of two sets: what is in the first and not in the second. */
export function andNot(a: Bitmap, b: Bitmap): Bitmap {
  if (a.few !== undefined)
    return fewBitmap(
      a.few.filter((position) => !b.has(position)),
      a.limit,
    )
  return combined(a, b, (x, y) => x & ~y)
}

/** What is skipped in words of 1,024 bits takes no longer than to find a block. */
const FAR = 1_024

/** Iterates over the members in ascending order, after the first `skip` of them. */
export function members(bitmap: Bitmap, skip = 0): Iterable<number> {
  if (bitmap.few !== undefined) return bitmap.few.subarray(skip)
  return membersOf(bitmap.words, skip, skip < FAR ? undefined : bitmap.ranks?.())
}

/** Adds the members of a set to words that are being filled. */
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
