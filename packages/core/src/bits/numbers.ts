/** A growing list of whole numbers from 0 to 2^32 - 1, four bytes each. */
export interface Numbers {
  push(number: number): void
  at(index: number): number
  set(index: number, number: number): void
  fill(number: number): void
  length(): number
  /** The numbers as they are now, for loops over many. Must not be changed. */
  all(): Uint32Array
  /**
   * In a list of ascending numbers, the first index from `start` whose number is at least `number`; the length if there is none. Searches with growing
   * steps, so that a series of calls with ascending numbers is fast whether they are near each other or far apart.
   */
  firstFrom(start: number, number: number): number
}

export function createNumbers(): Numbers {
  let numbers = new Uint32Array(64)
  let length = 0
  return {
    push(number) {
      if (length === numbers.length) {
        const larger = new Uint32Array(length * 2)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = number
    },
    at: (index) => numbers[index] ?? 0,
    set(index, number) {
      numbers[index] = number
    },
    fill(number) {
      numbers.fill(number)
    },
    length: () => length,
    all: () => numbers.subarray(0, length),
    firstFrom(start, number) {
      let [low, step] = [start, 1]
      while (low + step < length && (numbers[low + step] ?? 0) < number) {
        low += step
        step *= 2
      }
      let high = Math.min(low + step, length)
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((numbers[middle] ?? 0) >= number) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}

/** Different texts, numbered from 0 in the order in which they were added. */
export interface TextNumbers {
  /** Returns the number of a text, which is added if it is new. */
  add(text: string): number
  /** Returns the number of a text; `undefined` if it was not added. */
  find(text: string): number | undefined
  /** The texts by number. Must not be changed. */
  readonly texts: readonly string[]
}

const SMALLEST = 64
/** With a larger part of the slots in use, searches become long. */
const MOST_USED = 0.75

/**
 * Creates an empty numbering. It takes a fifth of the memory of a `Map` from texts to numbers, and less time: a hash table, each slot of which holds a
 * number and 1. Each has its own seed, so that nobody can choose texts that collide.
 */
export function createTextNumbers(): TextNumbers {
  const texts: string[] = []
  const seed = Math.random() * 2 ** 32
  let slots = new Uint32Array(SMALLEST)
  /** Hashes of the texts by number. */
  let hashes = new Int32Array(SMALLEST * MOST_USED)
  /** Returns the slot of a text, or that which is free for it. */
  const slotOf = (text: string, hash: number): number => {
    const last = slots.length - 1
    let slot = hash & last
    for (let held = slots[slot]; held && (hashes[held - 1] !== hash || texts[held - 1] !== text); held = slots[slot])
      slot = (slot + 1) & last
    return slot
  }
  const grow = (): void => {
    const known = hashes
    slots = new Uint32Array(slots.length * 2)
    hashes = new Int32Array(known.length * 2)
    hashes.set(known)
    const last = slots.length - 1
    for (const [number, hash] of known.entries()) {
      let slot = hash & last
      while (slots[slot]) slot = (slot + 1) & last
      slots[slot] = number + 1
    }
  }
  return {
    texts,
    find(text) {
      const held = slots[slotOf(text, textHash(text, seed))]
      return held ? held - 1 : undefined
    },
    add(text) {
      if (texts.length === hashes.length) grow()
      const hash = textHash(text, seed)
      const slot = slotOf(text, hash)
      const held = slots[slot]
      if (held) return held - 1
      hashes[texts.length] = hash
      slots[slot] = texts.push(text)
      return texts.length - 1
    },
  }
}

/** Returns a whole number of 32 bits for a text; with another seed, other texts have the same. */
export function textHash(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i) ^ (hash >>> 15), 0x5bd1e995)
  return hash ^ (hash >>> 15)
}
