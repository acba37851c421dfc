import type { OperationContext } from 'fhir-ops/context'
import { wrappedStorage, type Storage } from 'fhir-ops/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Exchange } from '../exchange.js'
import { isInReach } from './reach.js'
import { shownHistory, shownStorage } from './shown-storage.js'

/** The address of a resource. */
interface Address {
  readonly type: string
  readonly id: string
}

/**
 * Returns the request of an operation as its caller may see it: its storage lacks resources that a rule of the host hides, and the resource on which the
 * operation is called, if the caller must not know of it. The operation then answers as if neither existed.
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
  return isInReach({ ctx, caller }, type, id)
}

/** Returns the context as if a resource did not exist. */
export function without(ctx: OperationContext, hidden: Address): OperationContext {
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
