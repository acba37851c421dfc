import type { SearchPage, SearchQuery, StoredResource } from 'fhir-ops/storage'
import { readCursor, writeCursor } from './cursor.js'
import { unavailable } from './failure.js'
import type { HttpSettings } from './options.js'
import { searchRequests, sortPairs } from './search-requests.js'
import { readSearchset, type Searchset } from './searchset.js'
import type { Pair, Upstream } from './upstream.js'

/** An upstream and how it is spoken to. */
export interface Reach {
  readonly upstream: Upstream
  readonly settings: HttpSettings
}

/** One page of a search. */
export async function searchUpstream(reach: Reach, query: SearchQuery): Promise<SearchPage> {
  const [first, ...others] = searchRequests(query)
  if (first === undefined) return { items: [] }
  return others.length === 0 ? pageOfRequest(reach, query, first) : pageOfUnion(reach, query)
}

/** The exact number of matches, as the upstream counts them. */
export async function countUpstream(reach: Reach, query: SearchQuery): Promise<number> {
  const [first, ...others] = searchRequests(query)
  if (first === undefined) return 0
  if (others.length > 0) return (await unionOf(reach, query)).length
  const pairs: readonly Pair[] = [...first, ['_summary', 'count']]
  const { total } = await firstPage(reach, query.type, pairs)
  if (total === undefined) throw unavailable('does not count')
  return total
}

/** The position of a cursor is how many pages came before, and the upstream's link to this one. */
async function pageOfRequest(reach: Reach, query: SearchQuery, request: readonly Pair[]): Promise<SearchPage> {
  const { type, sort, limit, after } = query
  const at = after === undefined ? undefined : readCursor(after, query, reach.settings.cursorSecret)
  const asked = [...request, ...sortPairs(sort), ...countPair(limit)]
  const { items, next } = at === undefined ? await firstPage(reach, type, asked) : await pageAt(reach, type, new URL(at.from))
  if (limit !== undefined && items.length > limit) throw unavailable('sent a longer page than it was asked for')
  if (next === undefined) return { items }
  if (next.href === at?.from) throw unavailable('links from a page of results to itself')
  return { items, next: cursorTo(next, { pages: (at?.pages ?? 0) + 1, query, settings: reach.settings }) }
}

interface PagesBefore {
  readonly pages: number
  readonly query: SearchQuery
  readonly settings: HttpSettings
}

function cursorTo(next: URL, { pages, query, settings }: PagesBefore): string {
  if (pages >= settings.maxPages) throw unavailable('has too many pages of results')
  return writeCursor({ pages, from: next.href }, query, settings.cursorSecret)
}

/** The position of a cursor is the last id. */
async function pageOfUnion(reach: Reach, query: SearchQuery): Promise<SearchPage> {
  const { limit = Infinity, after } = query
  const { cursorSecret } = reach.settings
  const from = after === undefined ? '' : readCursor(after, query, cursorSecret).from
  const rest = (await unionOf(reach, query)).filter(({ id }) => id > from)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return rest.length === items.length || last === undefined ? { items } : { items, next: writeCursor({ pages: 0, from: last.id }, query, cursorSecret) }
}

/** Everything that one of the query's requests finds, by ascending id. There are few such queries, and few definitions of one key. */
async function unionOf(reach: Reach, { type, ...query }: SearchQuery): Promise<readonly StoredResource[]> {
  const found = new Map<string, StoredResource>()
  for (const pairs of searchRequests({ type, ...query })) {
    let page = await firstPage(reach, type, pairs)
    for (let pages = 1; ; pages++) {
      for (const item of page.items) found.set(item.id, item)
      if (page.next === undefined) break
      if (pages >= reach.settings.maxPages) throw unavailable('has too many pages of results')
      page = await pageAt(reach, type, page.next)
    }
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function firstPage({ upstream, settings }: Reach, type: string, pairs: readonly Pair[]): Promise<Searchset> {
  return readSearchset(await upstream.search(type, pairs), { base: settings.base, type, pairs })
}

async function pageAt({ upstream, settings }: Reach, type: string, link: URL): Promise<Searchset> {
  return readSearchset(await upstream.page(link), { base: settings.base, type })
}

function countPair(limit: number | undefined): readonly Pair[] {
  return limit === undefined ? [] : [['_count', String(limit)]]
}
