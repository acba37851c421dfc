import { conceptOfKey, placedKey } from '../terminology/index.js'

/** Keeps the first of many concepts in the order of place, length and number. */
export interface SmallestKeys {
  /** A concept may come several times; the smallest place counts. */
  add(place: number, length: number, concept: number): void
  /** Those kept, in order, each once. */
  sorted(): readonly number[]
}

const FIRST_CAPACITY = 64

/** Keeps at most `most` concepts. Each is one number, so that a hundred thousand are gone through in less than a millisecond. */
export function smallestKeys(most: number): SmallestKeys {
  let keys = new Float64Array(FIRST_CAPACITY)
  let size = 0
  let limit = Number.POSITIVE_INFINITY
  const compact = (): void => {
    size = keepFirst(keys.subarray(0, size).sort(), most)
    if (size >= most) limit = keys[size - 1] ?? limit
    if (size > keys.length / 2) keys = longer(keys)
  }
  return {
    add(place, length, concept) {
      const key = placedKey(place, length, concept)
      if (key >= limit) return
      if (size === keys.length) compact()
      keys[size++] = key
    },
    sorted() {
      compact()
      return Array.from(keys.subarray(0, size), conceptOfKey)
    },
  }
}

/** Moves the first key of each concept to the front, at most `most`, and says how many they are. */
function keepFirst(sorted: Float64Array, most: number): number {
  const seen = new Set<number>()
  let kept = 0
  for (const key of sorted) {
    if (kept >= most) break
    const concept = conceptOfKey(key)
    if (seen.has(concept)) continue
    seen.add(concept)
    sorted[kept++] = key
  }
  return kept
}

function longer(keys: Float64Array): Float64Array<ArrayBuffer> {
  const doubled = new Float64Array(keys.length * 2)
  doubled.set(keys)
  return doubled
}
