import { canonicalOf } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'

/**
 * The Measure that `Measure/<id>`, an id, a url or `url|version` names. Without a version: the newest that is not retired.
 *
 * @throws {OperationError} `not-found`; `deleted` for an id that the storage's history has.
 */
export async function findMeasure(ctx: OperationContext, name: string): Promise<JsonObject> {
  const found = name.includes(':') ? await byCanonical(ctx, name) : await byId(ctx, name.replace(/^Measure\//, ''))
  if (found === undefined) throw new OperationError('not-found', `Measure ${quoted(name)} does not exist.`)
  return found
}

async function byId(ctx: OperationContext, id: string): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure', id)
  const stored = await ctx.storage.read('Measure', id)
  if (stored !== undefined) return stored.resource
  const past = await ctx.storage.history?.page({ types: ['Measure'], id, limit: 1 })
  if (past?.items.length) throw new OperationError('deleted', `Measure/${id} is deleted.`)
  return undefined
}

async function byCanonical(ctx: OperationContext, canonical: string): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure')
  const { url, version, fragment } = canonicalOf(canonical)
  if (fragment !== undefined) return undefined
  const definition = await ctx.content.resolve('Measure', url, version)
  return version === undefined && definition?.status === 'retired' ? undefined : definition?.resource
}
