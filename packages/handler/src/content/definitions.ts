import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { allMatches, wrappedStorage, type Condition, type ReadResult, type SearchQuery } from 'fhir-ops/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Exchange } from '../exchange.js'
import { DEFINITION_TYPES, type Shelf } from './definition-shelf.js'
import type { Service } from '../service.js'
import { narrowedStorage } from './narrowed-storage.js'
import { narrowed } from './reach.js'

/** Cursors of pages of definitions, which come after all that is stored. */
const MARK = 'definitions.'

/**
 * The storage of a request with the definitions of a type behind what is stored: a stored resource goes before the definition of its id. What the
 * caller's rights do not cover stays hidden. For reads and searches; writes go to the storage.
 */
export function withDefinitions(service: Service, exchange: Exchange, type: string): Awaitable<OperationContext> {
  return after(service.definitions.of(type), (shelf) => (shelf === undefined ? exchange.ctx : withShelf(service, exchange, shelf)))
}

/** A definition that nothing is stored in the place of can be neither patched nor deleted. @throws {OperationError} `not-supported` */
export async function checkNoDefinition({ definitions }: Service, { storage }: OperationContext, { type, id }: Address): Promise<void> {
  // What is stored is looked at first: the definitions of a type are made to be searched by the first question about them.
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

/** Resources that are read at once to know their ids. */
const PAGE = 100

/** Definitions in whose place something is stored. Where the storage does not say when it changes, as in front of another server, none is looked up. */
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
