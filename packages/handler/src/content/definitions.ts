import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { allMatches, wrappedStorage, type Condition, type ReadResult, type SearchQuery } from 'fhir-ops/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Exchange } from '../exchange.js'
import { DEFINITION_TYPES, type Shelf } from './definition-shelf.js'
import type { Service } from '../service.js'
import { narrowedStorage } from './narrowed-storage.js'
import { narrowed } from './reach.js'

/** Prefix of cursors for pages of definitions, which come after stored resources. */
const MARK = 'definitions.'

/**
 * Returns the context of a request whose storage also has the definitions of a type: a stored resource takes precedence over the definition with its id.
 * Definitions that the caller has no right to see stay hidden. For reads and searches; writes go to the storage.
 */
export function withDefinitions(service: Service, exchange: Exchange, type: string): Awaitable<OperationContext> {
  return after(service.definitions.of(type), (shelf) => (shelf === undefined ? exchange.ctx : withShelf(service, exchange, shelf)))
}

/** Refuses to patch or delete a definition that no stored resource replaces. @throws {OperationError} `not-supported` */
export async function checkNoDefinition({ definitions }: Service, { storage }: OperationContext, { type, id }: Address): Promise<void> {
  // Looks at the storage first, because the first question about the definitions of a type prepares them for search.
  if (!DEFINITION_TYPES.has(type) || (await storage.read(type, id)) !== undefined) return
  const shelf = await definitions.of(type)
  if ((await shelf?.storage.read(type, id)) === undefined) return
  const problem = `${type}/${id} is a definition of this server, which cannot be changed; a PUT stores another one in its place.`
  throw new OperationError('not-supported', problem)
}

interface Address {
  readonly type: string
  readonly id: string
}

function withShelf(service: Service, { ctx, caller }: Exchange, shelf: Shelf): OperationContext {
  const { storage } = ctx
  const { type } = shelf
  const behind = caller.isNarrowed ? narrowedStorage({ ...ctx, storage: shelf.storage }, caller, service.indexer) : shelf.storage
  const unhidden = async (query: SearchQuery): Promise<SearchQuery> => {
    const hidden = await hiddenIds(service, type, shelf.ids)
    return hidden.length === 0 ? query : narrowed(query, without(hidden))
  }
  const view = wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history,
    revision: undefined,
    scan: undefined,
    changes: undefined,
    read: async (asked, id): Promise<ReadResult> =>
      (await storage.read(asked, id)) ?? (asked === type ? behind.read(asked, id) : undefined),
    async search(query) {
      const { after, limit = Infinity } = query
      if (query.type !== type) return storage.search(query)
      const isBehind = after?.startsWith(MARK) === true
      const first = isBehind ? { items: [] } : await storage.search(query)
      if (first.next !== undefined) return first
      const wanted = await unhidden(afterMark(query, isBehind))
      if (first.items.length >= limit) return (await behind.count(wanted)) > 0 ? { ...first, next: MARK } : first
      const { items, next } = await behind.search({ ...wanted, ...(query.limit !== undefined && { limit: limit - first.items.length }) })
      return { items: [...first.items, ...items], ...(next !== undefined && { next: MARK + next }) }
    },
    count: async (query) =>
      query.type === type ? (await storage.count(query)) + (await behind.count(await unhidden(query))) : storage.count(query),
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
  return { ...ctx, storage: view }
}

function afterMark({ after, ...query }: SearchQuery, isBehind: boolean): SearchQuery {
  const rest = isBehind ? after?.slice(MARK.length) : undefined
  return rest === undefined || rest === '' ? query : { ...query, after: rest }
}

function without(ids: readonly string[]): Condition {
  return { kind: 'not', condition: { kind: 'id', ids } }
}

/** Number of resources read at a time to collect their ids. */
const PAGE = 100

/** Ids of definitions that stored resources replace. None are looked up if the storage has no revision, as with an upstream server. */
async function hiddenIds({ ctx, hiddenDefinitions }: Service, type: string, ids: readonly string[]): Promise<readonly string[]> {
  const revision = await ctx.storage.revision?.()
  if (revision === undefined) return []
  const known = hiddenDefinitions.get(type)
  if (known?.revision === revision && known.among === ids) return known.hidden
  const found: string[] = []
  for await (const { id } of allMatches(ctx.storage, { type, where: { kind: 'id', ids }, limit: PAGE })) found.push(id)
  hiddenDefinitions.set(type, { revision, among: ids, hidden: found })
  return found
}
