/** A set of small whole numbers. */
export type Bits = Uint32Array

export function emptyBits(size: number): Bits {
  return new Uint32Array((size + 31) >>> 5)
}

/** The number must be below the size. */
export function addBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) | (1 << (at & 31))
}

export function removeBit(bits: Bits, at: number): void {
  const word = at >>> 5
  bits[word] = (bits[word] ?? 0) & ~(1 << (at & 31))
}

export function hasBit(bits: Bits, at: number): boolean {
  return ((bits[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
}

/** What is in both; as long as `a`. */
export function intersection(a: Bits, b: Bits): Bits {
  return a.map((word, index) => word & (b[index] ?? 0))
}

/** What is in `a` and not in `b`; as long as `a`. */
export function difference(a: Bits, b: Bits): Bits {
  return a.map((word, index) => word & ~(b[index] ?? 0))
}

/** Adds what is in `b` to `a`, which must be at least as long. */
export function addBits(a: Bits, b: Bits): void {
  for (let index = 0; index < b.length; index++) a[index] = (a[index] ?? 0) | (b[index] ?? 0)
}

export function countBits(bits: Bits): number {
  let count = 0
  for (const word of bits) count += onesOf(word)
  return count
}

/** @yields The numbers of the set, ascending. */
export function* membersOf(bits: Bits): Generator<number, void, undefined> {
  for (const [index, word] of bits.entries()) {
    for (let rest = word; rest !== 0; rest &= rest - 1) yield index * 32 + (31 - Math.clz32(rest & -rest))
  }
}

/** The number of ones of a 32-bit word, added up in pairs, fours and bytes. */
function onesOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
