import type { Definition } from '../content/index.js'
import { createPace, type OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { Work } from '../work/index.js'
import { createMarks, type Marks } from './memo.js'

/** A kind of thing that takes long to make from a definition. */
export interface LongKind<T extends object> {
  /** Distinguishes its entries in the cache. */
  readonly name: string
  readonly bytes: (made: T) => number
  readonly make: (resource: JsonObject) => Work<T>
}

/** A kind with what recognises its entries in the cache. */
export interface CachedKind<T extends object> extends LongKind<T> {
  readonly pending: Marks<Pending<T>>
}

/** Something that is made, or being made. */
export interface Pending<T extends object> {
  readonly made: Promise<T>
}

/** Makes a kind, once for all its entries. */
export function longKind<T extends object>(kind: LongKind<T>): CachedKind<T> {
  return { ...kind, pending: createMarks() }
}

/**
 * What `kind.make` gives for the definition, made once per content, while other work runs in between. Requests that ask for it at the same
 * time wait for the same one. Of a definition without key it is made for every call, and never shared.
 */
export function cachedWork<T extends object>(ctx: OperationContext, kind: CachedKind<T>, definition: Definition): Promise<T> {
  if (definition.key === undefined) return createPace(ctx).run(makeOf(kind, definition))
  const key = `${kind.name} ${definition.key}`
  const found = ctx.cache.get(key)
  if (found !== undefined && kind.pending.has(found)) return found.made
  // It is made for everybody, so it ends neither with this request nor with its time.
  const pending = kind.pending.mark({ made: createPace({ scheduler: ctx.scheduler }).run(makeOf(kind, definition)) })
  ctx.cache.set(key, pending, 1)
  return pending.made.then((made) => {
    ctx.cache.set(key, pending, kind.bytes(made))
    return made
  })
}

function* makeOf<T extends object>({ make }: LongKind<T>, definition: Definition): Work<T> {
  return yield* make(definition.parsing === undefined ? definition.resource : yield* definition.parsing())
}
