import { LRUCache } from 'lru-cache'

/** Remembers what may be used once. */
export interface Replays {
  /** True the first time. */
  isNew(key: string): boolean | Promise<boolean>
}

const MAX_KEPT = 100_000

/** Remembers keys of this process for so many milliseconds; with more than 100,000 at once the oldest is forgotten. */
export function replaysFor(ttl: number): Replays {
  const seen = new LRUCache<string, true>({ max: MAX_KEPT, ttl })
  return {
    isNew(key) {
      if (seen.has(key)) return false
      seen.set(key, true)
      return true
    },
  }
}
