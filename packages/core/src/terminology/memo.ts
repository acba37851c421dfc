import type { Definition } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'

/** Creates a function that makes a value at the first call and keeps it. */
export function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/**
 * Creates a cache of results for recent keys, at least half of `most`, at most `most`. A repeated key takes one lookup, because nothing is reordered:
 * whenever half of `most` keys are new, the older half is dropped.
 */
export function memoizeRecent<K extends number | string, T extends object | string>(most: number, make: (key: K) => T): (key: K) => T {
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

/** A kind of value that takes long to derive from a definition. */
export interface LongKind<T extends object> {
  /** Distinguishes its entries in the cache from others. */
  readonly name: string
  readonly bytes: (made: T) => number
  readonly make: (resource: JsonObject) => Work<T>
}

/** A kind with the marks by which its cache entries are recognised. */
export interface CachedKind<T extends object> extends LongKind<T> {
  readonly pending: Marks<Pending<T>>
}

/** A value that has been made or is being made. */
export interface Pending<T extends object> {
  readonly made: Promise<T>
}

/** Creates a kind; called once for all its entries. */
export function longKind<T extends object>(kind: LongKind<T>): CachedKind<T> {
  return { ...kind, pending: createMarks() }
}

/**
 * Returns the result of `kind.make` for a definition, computed once per content, while other work runs in between. Concurrent requests wait for the
 * same result. Without a key, it is computed on every call and never shared.
 */
export function cachedWork<T extends object>(ctx: OperationContext, kind: CachedKind<T>, definition: Definition): Promise<T> {
  if (definition.key === undefined) return madeOf(createPace(ctx), kind, definition)
  const key = `${kind.name} ${definition.key}`
  const found = ctx.cache.get(key)
  if (found !== undefined && kind.pending.has(found)) return found.made
  // The result is shared, so the work does not end with this request or its time limit.
  const pending = kind.pending.mark({ made: madeOf(createPace({ scheduler: ctx.scheduler }), kind, definition) })
  ctx.cache.set(key, pending, 1)
  return pending.made.then((made) => {
    ctx.cache.set(key, pending, kind.bytes(made))
    return made
  })
}

/** `Definition.resource` parses its text at once, so it is read only where there is no `parsing`. */
async function madeOf<T extends object>(pace: Pace, { make }: LongKind<T>, definition: Definition): Promise<T> {
  return pace.run(make(definition.parsing === undefined ? definition.resource : await pace.run(definition.parsing())))
}
