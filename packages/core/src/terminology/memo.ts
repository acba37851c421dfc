/** Makes a value at first use and keeps it. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/**
 * Keeps what was made for the keys that were asked for last: at least half of `most` of them, at most all. Asking again costs one lookup, as nothing
 * is reordered: when half of them are new, those before the last half are dropped.
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

/** Recognises values of one kind among the objects of a cache, which has objects of every kind. */
export interface Marks<T extends object> {
  /** Marks a value, and returns it. */
  mark(value: T): T
  /** True for a value that was marked. */
  has(value: object): value is T
}

/** Makes marks of one kind. */
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
