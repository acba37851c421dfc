/** A set of whole numbers below a limit, one bit each, 32 per word. */
export type Bits = Uint32Array

/** An empty set for numbers below `limit`. */
export function emptyBits(limit: number): Bits {
  return new Uint32Array((limit + 31) >>> 5)
}

/** Returns the set itself if it has room for the number, else a copy of at least twice the size. */
export function withRoomFor(bits: Bits, at: number): Bits {
  if (at < bits.length * 32) return bits
  const larger = emptyBits(Math.max(bits.length * 64, at + 1))
  larger.set(bits)
  return larger
}

/** Adds a number, which must be below the limit. */
export function addBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) | (1 << (at & 31))
}

/** Removes a number, which must be below the limit. */
export function removeBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) & ~(1 << (at & 31))
}

/** True for a member; false for numbers above the limit. */
export function hasBit(bits: Bits, at: number): boolean {
  return ((bits[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
}

/** The numbers in both sets; as long as `a`. */
export function intersection(a: Bits, b: Bits): Bits {
  const both = new Uint32Array(a.length)
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) both[index] = (a[index] ?? 0) & (b[index] ?? 0)
  return both
}

/** The numbers in `a` that are not in `b`; as long as `a`. */
export function difference(a: Bits, b: Bits): Bits {
  const left = a.slice()
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) left[index] = (left[index] ?? 0) & ~(b[index] ?? 0)
  return left
}

/** Adds the numbers in `b` to `a`, which must be at least as long. */
export function addBits(a: Bits, b: Bits): void {
  for (let index = 0; index < b.length; index++) a[index] = (a[index] ?? 0) | (b[index] ?? 0)
}

/** The size of a set. */
export function countBits(bits: Bits): number {
  let count = 0
  for (const word of bits) count += onesOf(word)
  return count
}

/** The size of the intersection. */
export function countBoth(a: Bits, b: Bits): number {
  const shared = Math.min(a.length, b.length)
  let count = 0
  for (let i = 0; i < shared; i++) count += onesOf((a[i] ?? 0) & (b[i] ?? 0))
  return count
}

/** The first `count` numbers that are in both sets, ascending. There must be at least that many. */
export function firstOfBoth(a: Bits, b: Bits, count: number): Uint32Array {
  const found = new Uint32Array(count)
  let next = 0
  for (let i = 0; next < count; i++) {
    for (let word = (a[i] ?? 0) & (b[i] ?? 0); word !== 0; word &= word - 1) found[next++] = lowestOf(i, word)
  }
  return found
}

/** Number of words per entry of `ranksOf`. */
const BLOCK = 32

/** The number of members before each block of words. With it, a skip of any length only counts within one block. */
export function ranksOf(bits: Bits): Uint32Array {
  const ranks = new Uint32Array(Math.ceil(bits.length / BLOCK))
  for (let block = 1; block < ranks.length; block++)
    ranks[block] = (ranks[block - 1] ?? 0) + countBits(bits.subarray((block - 1) * BLOCK, block * BLOCK))
  return ranks
}

/**
 * @param ranks Ranks of the set, for long skips.
 * @yields The numbers of the set, ascending, without the first `skip` of them.
 */
export function* membersOf(bits: Bits, skip = 0, ranks?: Uint32Array): Generator<number, void, undefined> {
  const block = ranks === undefined ? 0 : Math.max(0, firstWhere(ranks.length, (at) => (ranks[at] ?? 0) > skip) - 1)
  let left = skip - (ranks?.[block] ?? 0)
  for (let i = block * BLOCK; i < bits.length; i++) {
    let word = bits[i] ?? 0
    const inWord = onesOf(word)
    if (left >= inWord) {
      left -= inWord
      continue
    }
    for (; word !== 0; word &= word - 1) {
      if (left-- > 0) continue
      yield lowestOf(i, word)
    }
    left = 0
  }
}

/** Calls a function with each number of a set, ascending. For large sets this takes a third of the time of `membersOf`. */
export function visitMembers(bits: Bits, visit: (at: number) => void): void {
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] ?? 0; word !== 0; word &= word - 1) visit(lowestOf(i, word))
  }
}

/** The lowest number in a word. @param at Index of the word. */
function lowestOf(at: number, word: number): number {
  return at * 32 + 31 - Math.clz32(word & -word)
}

/** The lowest bit of each group of four. */
const NIBBLES = 0x11111111

/** Counts bits. All steps stay in the range of signed 32-bit numbers, because engines use floating point beyond it (bench `in-process`, two words). */
function onesOf(word: number): number {
  const nibbles = (word & NIBBLES) + ((word >>> 1) & NIBBLES) + ((word >>> 2) & NIBBLES) + ((word >>> 3) & NIBBLES)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** Binary search for the first number below `size` for which the test holds; `size` if there is none. The test must also hold for all later numbers. */
export function firstWhere(size: number, test: (i: number) => boolean): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(middle)) high = middle
    else low = middle + 1
  }
  return low
}
