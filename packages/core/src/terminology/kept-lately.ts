import { LRUCache } from 'lru-cache'

/** Keeps what was made for the `most` keys that were asked for last. */
export function keptLately<K extends number | string, T extends object | string>(most: number, make: (key: K) => T): (key: K) => T {
  const kept = new LRUCache<K, T>({ max: most })
  return (key) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make(key)
    kept.set(key, made)
    return made
  }
}
