/** Creates a function that makes a value at the first call and keeps it. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/**
 * Creates a cache of results for recent keys, at least half of `most`, at most `most`. A repeated key takes one lookup, because nothing is reordered:
 * whenever half of `most` keys are new, the older half is dropped.
 */
export function keptLately<K extends number | string, T extends object | string>(most: number, make: (key: K) => T): (key: K) => T {
  const half = Math.max(1, most >>> 1)
  let recent = new Map<K, T>()
  let before = recent
  return (key) => {
    const known = recent.get(key)
    if (known !== undefined) return known
    const made = before.get(key) ?? make(key)
    if (recent.size >= half) {
      before = recent
      recent = new Map()
    }
    recent.set(key, made)
    return made
  }
}

/** Recognises values of one kind among the objects of a cache, which holds objects of all kinds. */
export interface Marks<T extends object> {
  /** Marks a value, and returns it. */
  mark(value: T): T
  /** True for a marked value. */
  has(value: object): value is T
}

/** Creates marks for one kind of values. */
export function createMarks<T extends object>(): Marks<T> {
  const marked = new WeakSet()
  return {
    mark(value) {
      marked.add(value)
      return value
    },
    has: (value): value is T => marked.has(value),
  }
}
