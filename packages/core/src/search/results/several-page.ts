import { OperationError } from '../../errors/index.js'
import type { Indexer, SearchPage, SearchQuery, Storage, StoredResource } from '../../storage/index.js'
import { mergedPage } from './merged-page.js'

/** Where the matches of several types come from. */
export interface SeveralScope {
  readonly storage: Pick<Storage, 'search'>
  /** Tells what a resource is sorted by. */
  readonly indexer: Indexer
}

/** How much of the matches of several types is wanted. */
export interface SeveralCut {
  /** Most resources of the page. */
  readonly limit: number
  /** `next` of the page before; absent for the first. */
  readonly after?: string | undefined
}

/**
 * One page of the matches of several queries of different types with the same `sort`: in that order, among equals and without one type by
 * type in the order of the queries, and then by id. As for pages of one type, writes between two of them do not disturb the rest.
 *
 * @throws {OperationError} `search-invalid` when `after` is not a cursor; `search-unsupported` when the storage sorts otherwise than it promises.
 */
export async function severalPage(scope: SeveralScope, queries: readonly SearchQuery[], cut: SeveralCut): Promise<SearchPage> {
  return queries[0]?.sort === undefined ? typeByType(scope, queries, cut) : mergedPage(scope, queries, cut)
}

async function typeByType({ storage }: SeveralScope, all: readonly SearchQuery[], { limit, after }: SeveralCut): Promise<SearchPage> {
  const items: StoredResource[] = []
  for (const query of after === undefined ? all : queriesFrom(all, after)) {
    const left = limit - items.length
    const page = await storage.search({ ...query, limit: Math.max(1, left) })
    // A full page has only to know whether, and where, something follows.
    if (left === 0 && page.items.length > 0) return { items, next: query.type }
    items.push(...page.items)
    if (page.next !== undefined) return { items, next: `${query.type} ${page.next}` }
  }
  return { items }
}

/** A cursor is the type where the next page begins, and where in that type unless at its beginning. */
function queriesFrom(queries: readonly SearchQuery[], cursor: string): readonly SearchQuery[] {
  const [type, ...after] = cursor.split(' ')
  const start = queries.findIndex((query) => query.type === type)
  const [first, ...others] = queries.slice(Math.max(0, start))
  if (start < 0 || first === undefined) throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return [after.length === 0 ? first : { ...first, after: after.join(' ') }, ...others]
}
