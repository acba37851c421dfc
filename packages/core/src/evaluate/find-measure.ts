import { canonicalOf, formatCanonical } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import { isHidden } from '../operation/index.js'
import type { PinnedVersions } from './pinned-versions.js'

/**
 * The Measure with a name: `Measure/<id>`, an id, a url or `url|version`. Without a version: the one that is pinned, or else the newest that is not retired.
 *
 * @throws {OperationError} `not-found`; `deleted` for an id that is in the storage's history.
 */
export async function findMeasure(ctx: OperationContext, name: string, pinned?: PinnedVersions): Promise<JsonObject> {
  const found = name.includes(':') ? await measureByCanonical(ctx, name, pinned) : await byId(ctx, name.replace(/^Measure\//, ''))
  if (found === undefined)
    throw new OperationError('not-found', `Measure ${quoted(name)} does not exist.`, {
      expression: ['measure'],
      missing: { kind: 'Measure', name },
    })
  const definition = canonicalOfMeasure(found)
  const isOpen = name.includes(':') && canonicalOf(name).version === undefined
  const isPinned = isOpen && pinned?.of(canonicalOf(name).url) !== undefined
  const isNewest = isOpen && !isPinned
  const why = isNewest
    ? 'it is the newest of its url that is not retired'
    : isPinned
      ? 'the manifest states this version'
      : 'the request names it'
  ctx.explain?.step({
    kind: 'measure',
    outcome: 'chosen',
    reason: isNewest ? 'newest' : 'request',
    definition,
    text: `The Measure ${quoted(definition)} was used: ${why}.`,
  })
  return found
}

async function byId(ctx: OperationContext, id: string): Promise<JsonObject | undefined> {
  if (isHidden(ctx, 'Measure', id)) return undefined
  const stored = await ctx.storage.read('Measure', id)
  if (stored !== undefined) return stored.resource
  const past = await ctx.storage.history?.page({ types: ['Measure'], id, limit: 1 })
  if (past?.items.length) throw new OperationError('deleted', `Measure/${id} is deleted.`, { expression: ['measure'] })
  return undefined
}

/** The Measure with a canonical; without a version, the one that is pinned, or else the newest that is not retired; `undefined` when there is none. */
export async function measureByCanonical(
  ctx: OperationContext,
  canonical: string,
  pinned?: PinnedVersions,
): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure')
  const { url, version: stated, fragment } = canonicalOf(canonical)
  const version = stated ?? pinned?.of(url)
  if (fragment !== undefined) return undefined
  const definition = await ctx.content.resolve('Measure', url, version)
  return version === undefined && definition?.status === 'retired' ? undefined : definition?.resource
}

/** `url|version` of a Measure, or `Measure/<id>` when it has no url. */
export function canonicalOfMeasure(measure: JsonObject): string {
  const url = stringAt(measure, 'url')
  return url === undefined ? `Measure/${stringAt(measure, 'id')}` : formatCanonical(url, stringAt(measure, 'version'))
}
