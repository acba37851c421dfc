import type { SearchQuery } from './query.js'
import type { Storage, StoredResource } from './storage.js'

/**
 * Goes through the matches of a query, page by page as the caller goes on.
 *
 * @yields Every match in the order of the query.
 */
export async function* allMatches(storage: Pick<Storage, 'search'>, query: SearchQuery): AsyncGenerator<StoredResource, void, undefined> {
  let next: string | undefined = query.after
  do {
    const page = await storage.search({ ...query, ...(next !== undefined && { after: next }) })
    yield* page.items
    next = page.next
  } while (next !== undefined)
}
