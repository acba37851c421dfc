import type { OperationContext } from 'fhir-ops/context'
import { wrappedStorage, type Storage, allMatches, type ResourceHistory } from 'fhir-ops/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import { createPace } from 'fhir-ops/internal/context'
import { containerOfPlace } from 'fhir-ops/internal/storage'
import type { Exchange } from '../exchange.js'
import type { Caller } from '../auth/caller.js'
import { isInReach, pageBytes, shownPage, type Part } from './reach.js'

/** The address of a resource. */
interface Address {
  readonly type: string
  readonly id: string
}

/**
 * Returns the request of an operation as its caller may see it: its storage lacks resources that a rule of the host hides, and the resource on which the
 * operation is called, if the caller must not know of it. The operation then answers as if neither existed.
 */
export function withoutHidden(exchange: Exchange): Awaitable<Exchange> {
  const { caller, ctx, params } = exchange
  const [type, id] = [params.get('type'), params.get('id')]
  const shown = caller.hides ? { ...exchange, ctx: { ...ctx, storage: shownStorage(ctx, caller), isPartial: true } } : exchange
  if (type === undefined || id === undefined) return shown
  return after(isSeen(exchange, { type, id }), (seen) => (seen ? shown : { ...shown, ctx: withoutResource(shown.ctx, { type, id }) }))
}

function isSeen(exchange: Exchange, { type, id }: Address): Awaitable<boolean> {
  const { caller, ctx } = exchange
  if (caller.hides && caller.decide('read', type, id) === 'hide') return false
  return isInReach({ ctx, caller }, type, id)
}

/** Returns the context as if a resource did not exist. */
export function withoutResource(ctx: OperationContext, hidden: Address): OperationContext {
  const isHidden = (type: string, id: string | undefined): boolean => type === hidden.type && id === hidden.id
  return {
    ...ctx,
    storage: storageWithout(ctx.storage, isHidden),
    authorize: (action, type, id) => {
      if (action !== 'read' || !isHidden(type, id)) ctx.authorize?.(action, type, id)
    },
  }
}

function storageWithout(storage: Storage, isHidden: (type: string, id: string) => boolean): Storage {
  const { history } = storage
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: history && shownHistory(history, (type, id) => !isHidden(type, id)),
    revision: storage.revision,
    changes: storage.changes,
    scan: storage.scan,
    read: async (type, id) => (isHidden(type, id) ? undefined : storage.read(type, id)),
    search: (query) => storage.search(query),
    count: (query) => storage.count(query),
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

/** Number of matches checked together. */
const PAGE = 1_000

/**
 * The storage without resources that a rule of the host hides from the caller: these are not read, found or counted. The rule decides about one
 * resource at a time, so counting reads all matches. Chains still follow references to hidden resources.
 */
function shownStorage(ctx: OperationContext, caller: Caller): Storage {
  const { storage } = ctx
  const isRead = (type: string, id: string): boolean => caller.decide('read', type, id) !== 'hide'
  const isFound = (stored: { readonly type: string; readonly id: string }): boolean => {
    const { type, id } = containerOfPlace(stored.id) ?? stored
    return caller.decide('search', type, id) === 'allow'
  }
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history && shownHistory(storage.history, isRead),
    // What is cached by revision would also be used for other callers.
    revision: undefined,
    changes: undefined,
    scan: undefined,
    read: async (type, id) => (isRead(type, id) ? storage.read(type, id) : undefined),
    async search(query) {
      const { limit } = query
      if (limit !== undefined) {
        const pages = { ctx, pageOf: async (part: Part) => storage.search({ ...query, ...part }), shows: isFound }
        return shownPage({ ...pages, lengthOf: ({ text }) => text.length }, { ...query, limit })
      }
      const page = await storage.search(query)
      return { ...page, items: page.items.filter(isFound) }
    },
    async count(query) {
      const pace = createPace(ctx)
      let count = 0
      for await (const match of allMatches(storage, { ...query, limit: PAGE, maxBytes: pageBytes(ctx) })) {
        await pace.step()
        if (isFound(match)) count++
      }
      return count
    },
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

/** The history without versions of resources that `isRead` refuses. */
function shownHistory(history: ResourceHistory, isRead: (type: string, id: string) => boolean): ResourceHistory {
  return {
    version: async (type, id, versionId) => (isRead(type, id) ? history.version(type, id, versionId) : undefined),
    async page(query) {
      const page = await history.page(query)
      return { ...page, items: page.items.filter(({ type, id }) => isRead(type, id)) }
    },
  }
}
