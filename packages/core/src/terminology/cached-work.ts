import type { Definition } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'
import { createMarks, type Marks } from './memo.js'

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
