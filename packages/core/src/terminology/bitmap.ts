import { firstWhere } from './first-where.js'

/** A set of whole numbers from 0 to a fixed limit. Never changed after it was made; the count is kept once known. */
export interface Bitmap {
  /** One more than the largest number that it can hold. */
  readonly limit: number
  readonly words: Uint32Array
  /** The members in ascending order, where they are so few that it was made of them. */
  readonly few?: Uint32Array
  has(position: number): boolean
  count(): number
}

/** A bitmap over words that nobody else writes to any more. */
export function bitmapOf(words: Uint32Array, limit: number): Bitmap {
  let counted: number | undefined
  return {
    limit,
    words,
    has: (position) => ((words[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0,
    count: () => (counted ??= countWords(words)),
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

/** A bitmap without members. */
export function emptyBitmap(limit: number): Bitmap {
  return bitmapOf(newWords(limit), limit)
}

/** The numbers from `start` up to but not including `end`. */
export function rangeBitmap(start: number, end: number, limit: number): Bitmap {
  const words = newWords(limit)
  const first = start >>> 5
  const last = end >>> 5
  if (start >= end) return bitmapOf(words, limit)
  words.fill(0xffffffff, first, last)
  if (last < words.length) words[last] = lowBits(end & 31)
  words[first] = (words[first] ?? 0) & ~lowBits(start & 31)
  return bitmapOf(words, limit)
}

/** The numbers given, in any order; numbers outside the limit are passed over. */
export function bitmapFrom(positions: Iterable<number>, limit: number): Bitmap {
  const words = newWords(limit)
  for (const position of positions) if (position < limit) setBit(words, position)
  return bitmapOf(words, limit)
}

/** The members of both. */
export function and(a: Bitmap, b: Bitmap): Bitmap {
  return fewOf(a, b) ?? combined(a, b, (x, y) => x & y)
}

/**
 * The same for sets that are asked for their count and some members and then forgotten: no words are made for it, and every question goes
 * to both, so that it must not be nested without bound.
 */
export function fleetingAnd(a: Bitmap, b: Bitmap): Bitmap {
  let counted: number | undefined
  return (
    fewOf(a, b) ?? {
      limit: Math.max(a.limit, b.limit),
      get words() {
        return combined(a, b, (x, y) => x & y).words
      },
      has: (position) => a.has(position) && b.has(position),
      count: () => (counted ??= countBoth(a.words, b.words)),
    }
  )
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

/** The members of either. */
export function or(a: Bitmap, b: Bitmap): Bitmap {
  return combined(a, b, (x, y) => x | y)
}

/** The members of the first that are not in the second. */
export function andNot(a: Bitmap, b: Bitmap): Bitmap {
  if (a.few !== undefined)
    return fewBitmap(
      a.few.filter((position) => !b.has(position)),
      a.limit,
    )
  return combined(a, b, (x, y) => x & ~y)
}

/**
 * The members in ascending order, from the one that has `skip` members before it.
 *
 * @yields each member once
 */
export function* members(bitmap: Bitmap, skip = 0): Generator<number, void, undefined> {
  if (bitmap.few !== undefined) return yield* bitmap.few.subarray(skip)
  const { words } = bitmap
  let left = skip
  for (let i = 0; i < words.length; i++) {
    let word = words[i] ?? 0
    const inWord = bitsIn(word)
    if (left >= inWord) {
      left -= inWord
      continue
    }
    for (; word !== 0; word &= word - 1) {
      if (left-- > 0) continue
      yield i * 32 + 31 - Math.clz32(word & -word)
    }
    left = 0
  }
}

/** Fresh words for numbers below the limit, to be filled with `setBit`. */
export function newWords(limit: number): Uint32Array {
  return new Uint32Array((limit + 31) >>> 5)
}

/** Adds a number to words that are being filled. */
export function setBit(words: Uint32Array, position: number): void {
  const at = position >>> 5
  words[at] = (words[at] ?? 0) | (1 << (position & 31))
}

function combined(a: Bitmap, b: Bitmap, join: (x: number, y: number) => number): Bitmap {
  const words = new Uint32Array(Math.max(a.words.length, b.words.length))
  for (let i = 0; i < words.length; i++) words[i] = join(a.words[i] ?? 0, b.words[i] ?? 0)
  return bitmapOf(words, Math.max(a.limit, b.limit))
}

function lowBits(count: number): number {
  return count === 0 ? 0 : 0xffffffff >>> (32 - count)
}

function countWords(words: Uint32Array): number {
  let count = 0
  for (const word of words) count += bitsIn(word)
  return count
}

function countBoth(a: Uint32Array, b: Uint32Array): number {
  let count = 0
  for (let i = 0; i < Math.min(a.length, b.length); i++) count += bitsIn((a[i] ?? 0) & (b[i] ?? 0))
  return count
}

function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
