/** Random draws for one input, the same for the same seed. */
export interface Random {
  /** An integer from 0 to `below`, which is excluded. */
  whole(below: number): number
  one<T>(items: readonly T[]): T
  /** Up to `most` draws. */
  some<T>(most: number, draw: () => T): T[]
  /** True once in `times`. */
  seldom(times: number): boolean
}

/** Creates the draws of the input with a number in a run. */
export function randomOf(seed: number, number: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (below: number): number => Math.floor(next() * below)
  const one = <T>(items: readonly T[]): T => {
    const [item] = items.slice(whole(items.length))
    if (item === undefined) throw new RangeError('There is nothing to choose from.')
    return item
  }
  return { whole, one, some: (most, draw) => Array.from({ length: whole(most + 1) }, draw), seldom: (times) => whole(times) === 0 }
}

/** Texts that often cause errors in programs. */
export const ODD: readonly string[] = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\uFEFF',
  '\u2028',
  '\r\n',
  '\t',
  '"',
  "'",
  '\\',
  '%',
  '__proto__',
  'constructor',
  '0',
  '-1',
  '1e400',
  '99999999999999999999',
  '((((((((((((((((((((((((((((((((',
  '{{{{{{{{',
  '[[[[[[[[',
  'é𝒳',
  'a'.repeat(300),
]

/** Changes a text at a few places: removes, repeats or moves a piece, or inserts an unusual text. */
export function changed(random: Random, text: string, words: readonly string[]): string {
  let result = text
  for (let changes = random.whole(4); changes > 0; changes--) {
    const at = random.whole(result.length + 1)
    const end = Math.min(result.length, at + random.whole(12))
    const piece = result.slice(at, end)
    const put = [
      () => '',
      () => piece.repeat(1 + random.whole(random.seldom(50) ? 200 : 3)),
      () => random.one(words),
      () => random.one(ODD),
    ]
    result = result.slice(0, at) + random.one(put)() + result.slice(end)
  }
  return result
}

/** Words of a language in any order, or a sentence of it that was changed. */
export function sentence(
  random: Random,
  { words, examples }: { readonly words: readonly string[]; readonly examples: readonly string[] },
): string {
  if (random.seldom(2)) return changed(random, random.one(examples), words)
  return random.some(random.seldom(20) ? 200 : 12, () => random.one(words)).join(random.one(['', ' ', ' ']))
}

/** Changes some bytes, or cuts the end off. */
export function damaged(random: Random, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes)
  for (let changes = random.whole(6); changes > 0; changes--)
    copy[random.whole(copy.length)] = random.one([0, 1, 0x20, 0x7f, 0xff, random.whole(256)])
  return random.seldom(4) ? copy.slice(0, random.whole(copy.length)) : copy
}
