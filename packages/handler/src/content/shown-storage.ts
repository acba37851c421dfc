import type { OperationContext } from 'fhir-ops/context'
import { createPace } from 'fhir-ops/internal/context'
import { allMatches, wrappedStorage, type ResourceHistory, type Storage } from 'fhir-ops/storage'
import type { Caller } from '../auth/caller.js'
import { containerOfPlace } from 'fhir-ops/internal/storage'
import { pageBytes, shownPage, type Part } from './reach.js'

/** Number of matches checked together. */
const PAGE = 1_000

/**
 * The storage without resources that a rule of the host hides from the caller: these are not read, found or counted. The rule decides about one
 * resource at a time, so counting reads all matches. Chains still follow references to hidden resources.
 */
export function shownStorage(ctx: OperationContext, caller: Caller): Storage {
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
export function shownHistory(history: ResourceHistory, isRead: (type: string, id: string) => boolean): ResourceHistory {
  return {
    version: async (type, id, versionId) => (isRead(type, id) ? history.version(type, id, versionId) : undefined),
    async page(query) {
      const page = await history.page(query)
      return { ...page, items: page.items.filter(({ type, id }) => isRead(type, id)) }
    },
  }
}
