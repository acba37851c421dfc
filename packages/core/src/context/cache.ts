import { LRUCache } from 'lru-cache'
import type { Definition } from '../content/index.js'
import { checkOptions, inputShape, type InputShape, type MemberKind } from '../input/index.js'

/** Keeps what engines derive from definitions between requests: indexes, plans, compiled profiles. Bounded by entries and by bytes. */
export interface Cache {
  get(key: string): object | undefined
  /** @param bytes Estimated size in memory; set a value again when it has grown. A value larger than the whole cache is not kept. */
  set(key: string, value: object, bytes: number): void
  /** A number that increases when an entry is evicted. A cache without `revision` keeps no plans. */
  readonly revision?: (() => number) | undefined
}

/** Bounds of `createCache`. */
export interface CacheOptions {
  /** Default 10,000. */
  readonly maxEntries?: number
  /** Default 512 MiB. */
  readonly maxBytes?: number
}

const BOUND: MemberKind = { words: 'a whole number above 0', is: (value) => Number.isSafeInteger(value) && Number(value) > 0 }
const SHAPE: InputShape = inputShape<CacheOptions>({ maxEntries: BOUND, maxBytes: BOUND })

/** Creates a cache that evicts the least recently used entries. @throws {TypeError} for an unknown option or one of the wrong type. */
export function createCache(options: CacheOptions = {}): Cache {
  checkOptions('createCache', SHAPE, options)
  let forgotten = 0
  const entries = new LRUCache<string, object>({
    max: options.maxEntries ?? 10_000,
    maxSize: options.maxBytes ?? 512 * 1024 * 1024,
    dispose: (_value, _key, reason) => {
      if (reason === 'evict') forgotten++
    },
  })
  return {
    get: (key) => entries.get(key),
    set(key, value, bytes) {
      if (entries.peek(key) === value) entries.delete(key) // otherwise the size would not be updated
      entries.set(key, value, { size: Math.max(1, Math.ceil(bytes)) })
      if (!entries.has(key)) forgotten++
    },
    revision: () => forgotten,
  }
}

/** A kind of value that is derived from a definition, with the type guard that recognises it in the cache. */
export interface CacheKind<T extends object> {
  readonly name: string
  readonly is: (value: object) => value is T
  readonly bytes: (value: T) => number
  readonly make: (definition: Definition) => T
}

/** Returns the result of `kind.make` for a definition, computed once per content. Without a key, it is computed on every call and never shared. */
export function cached<T extends object>(cache: Cache, kind: CacheKind<T>, definition: Definition): T {
  if (definition.key === undefined) return kind.make(definition)
  const key = `${kind.name} ${definition.key}`
  const found = cache.get(key)
  if (found !== undefined && kind.is(found)) return found
  const made = kind.make(definition)
  cache.set(key, made, kind.bytes(made))
  return made
}
