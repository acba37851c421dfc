import type { OperationContext } from 'fhir-ops/context'
import { wrappedStorage, type ResourceHistory, type Storage } from 'fhir-ops/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Exchange } from '../exchange.js'
import { isReached } from './reach.js'
import { shownStorage } from './shown-storage.js'

/** A resource by its address. */
interface Address {
  readonly type: string
  readonly id: string
}

/**
 * The request of an operation, with a storage that lacks what a rule of the host hides from its caller, and the resource that it is called on where its caller may not know of it: whatever the operation would say of one
 * that does not exist, of its parameters before that, or nothing at all, it says then.
 */
export function asSeen(exchange: Exchange): Awaitable<Exchange> {
  const { caller, ctx, params } = exchange
  const [type, id] = [params.get('type'), params.get('id')]
  const shown = caller.hides ? { ...exchange, ctx: { ...ctx, storage: shownStorage(ctx, caller) } } : exchange
  if (type === undefined || id === undefined) return shown
  return after(isSeen(exchange, { type, id }), (seen) => (seen ? shown : { ...shown, ctx: without(shown.ctx, { type, id }) }))
}

function isSeen(exchange: Exchange, { type, id }: Address): Awaitable<boolean> {
  const { caller, ctx } = exchange
  if (caller.hides && caller.decide('read', type, id) === 'hide') return false
  if (type !== 'Bot' && type !== 'Binary') return true
  return after(ctx.storage.read(type, id), (stored) => stored === undefined || isReached(exchange, stored))
}

function without(ctx: OperationContext, hidden: Address): OperationContext {
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
    history: history && historyWithout(history, isHidden),
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

/** An operation asks for the history of its own resource only. */
function historyWithout(history: ResourceHistory, isHidden: (type: string, id: string) => boolean): ResourceHistory {
  return {
    version: async (type, id, versionId) => (isHidden(type, id) ? undefined : history.version(type, id, versionId)),
    async page(query) {
      const page = await history.page(query)
      return { ...page, items: page.items.filter(({ type, id }) => !isHidden(type, id)) }
    },
  }
}
