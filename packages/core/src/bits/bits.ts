/** A set of whole numbers below a limit, 32 of them in a word. */
export type Bits = Uint32Array

/** A set for numbers below `limit`, without any. */
export function emptyBits(limit: number): Bits {
  return new Uint32Array((limit + 31) >>> 5)
}

/** The same set when it has room for the number, else a copy that has, and room for twice as many. */
export function withRoomFor(bits: Bits, at: number): Bits {
  if (at < bits.length * 32) return bits
  const larger = emptyBits(Math.max(bits.length * 64, at + 1))
  larger.set(bits)
  return larger
}

/** The number must be below the limit. */
export function addBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) | (1 << (at & 31))
}

/** The number must be below the limit. */
export function removeBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) & ~(1 << (at & 31))
}

/** True for a member; false for numbers above the limit. */
export function hasBit(bits: Bits, at: number): boolean {
  return ((bits[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
}

/** What is in both; as long as `a`. */
export function intersection(a: Bits, b: Bits): Bits {
  const both = new Uint32Array(a.length)
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) both[index] = (a[index] ?? 0) & (b[index] ?? 0)
  return both
}

/** What is in `a` and not in `b`; as long as `a`. */
export function difference(a: Bits, b: Bits): Bits {
  const left = a.slice()
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) left[index] = (left[index] ?? 0) & ~(b[index] ?? 0)
  return left
}

/** Adds what is in `b` to `a`, which must be at least as long. */
export function addBits(a: Bits, b: Bits): void {
  for (let index = 0; index < b.length; index++) a[index] = (a[index] ?? 0) | (b[index] ?? 0)
}

/** How many numbers are in the set. */
export function countBits(bits: Bits): number {
  let count = 0
  for (const word of bits) count += onesOf(word)
  return count
}

/** How many numbers are in both. */
export function countBoth(a: Bits, b: Bits): number {
  const shared = Math.min(a.length, b.length)
  let count = 0
  for (let i = 0; i < shared; i++) count += onesOf((a[i] ?? 0) & (b[i] ?? 0))
  return count
}

/** The first `count` numbers that are in both, ascending. There must be at least as many. */
export function firstOfBoth(a: Bits, b: Bits, count: number): Uint32Array {
  const found = new Uint32Array(count)
  let next = 0
  for (let i = 0; next < count; i++) {
    for (let word = (a[i] ?? 0) & (b[i] ?? 0); word !== 0; word &= word - 1) found[next++] = lowestOf(i, word)
  }
  return found
}

/** Words whose numbers are counted together. */
const BLOCK = 32

/** How many numbers of a set come before each block of words: with that a skip counts in one block, however far it goes. */
export function ranksOf(bits: Bits): Uint32Array {
  const ranks = new Uint32Array(Math.ceil(bits.length / BLOCK))
  for (let block = 1; block < ranks.length; block++)
    ranks[block] = (ranks[block - 1] ?? 0) + countBits(bits.subarray((block - 1) * BLOCK, block * BLOCK))
  return ranks
}

/**
 * @param ranks Of the set, where there are many to be skipped.
 * @yields The numbers of the set, ascending, from the one that has `skip` numbers before it.
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

/** Calls a function with each number of a set, ascending: of large sets in a third of the time that `membersOf` takes. */
export function visitMembers(bits: Bits, visit: (at: number) => void): void {
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] ?? 0; word !== 0; word &= word - 1) visit(lowestOf(i, word))
  }
}

/** The lowest number in a word of a set. */
function lowestOf(at: number, word: number): number {
  return at * 32 + 31 - Math.clz32(word & -word)
}

/** The lowest bit of each four. */
const NIBBLES = 0x11111111

/** No step leaves the range of signed 32-bit numbers: engines count with floating point what does (bench `in-process`, two words). */
function onesOf(word: number): number {
  const nibbles = (word & NIBBLES) + ((word >>> 1) & NIBBLES) + ((word >>> 2) & NIBBLES) + ((word >>> 3) & NIBBLES)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The first number below the size for which the test holds, where it holds for all after it; the size when there is none. */
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
