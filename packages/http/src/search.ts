import type { SearchPage, SearchQuery, StoredResource } from 'fhir-ops/storage'
import { readCursor, writeCursor } from './cursor.js'
import { unavailable } from './failure.js'
import { linkedPage, type UpstreamPage, memberText, readBundlePage, type ExpectedPage } from './bundle-page.js'
import type { HttpSettings } from './options.js'
import { searchRequests, sortPairs } from './search-requests.js'
import type { Pair, Upstream } from './upstream.js'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import type { Answer } from './answer.js'
import { resourceFrom } from './stored-from.js'

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

async function pageOfRequest(reach: Reach, query: SearchQuery, request: readonly Pair[]): Promise<SearchPage> {
  const asked = [...request, ...sortPairs(query.sort), ...countPair(query.limit)]
  return linkedPage(reach.settings, query, {
    first: async () => firstPage(reach, query.type, asked),
    at: async (link) => pageAt(reach, query, link),
  })
}

/** The position of a cursor is the last id. */
async function pageOfUnion(reach: Reach, query: SearchQuery): Promise<SearchPage> {
  const { limit = Infinity, after } = query
  const { cursorSecret } = reach.settings
  const from = after === undefined ? '' : readCursor(after, query, cursorSecret).from
  const rest = (await unionOf(reach, query)).filter(({ id }) => id > from)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return rest.length === items.length || last === undefined
    ? { items }
    : { items, next: writeCursor({ pages: 0, from: last.id }, query, cursorSecret) }
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
      page = await pageAt(reach, { type }, page.next)
    }
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function firstPage({ upstream, settings }: Reach, type: string, pairs: readonly Pair[]): Promise<Searchset> {
  return readSearchset(await upstream.search(type, pairs), { base: settings.base, type, pairs })
}

async function pageAt({ upstream, settings }: Reach, { type, limit }: Pick<SearchQuery, 'type' | 'limit'>, link: URL): Promise<Searchset> {
  return readSearchset(await upstream.page(link, limit), { base: settings.base, type })
}

function countPair(limit: number | undefined): readonly Pair[] {
  return limit === undefined ? [] : [['_count', String(limit)]]
}

/** A page of a search, read and checked. */
export interface Searchset extends UpstreamPage<StoredResource> {
  readonly total?: number
}

/** What an answer must fit to be believed. */
export interface ExpectedSearchset extends Omit<ExpectedPage, 'kind'> {
  readonly type: string
}

/**
 * Reads a page of a search. The matches come from the text of the bundle, so that numbers keep their digits; included resources and
 * outcomes are skipped.
 *
 * @throws {OperationError} as `readBundlePage`; `storage-unavailable` when it holds another type, or a resource twice.
 */
function readSearchset(answer: Answer, { type, ...expected }: ExpectedSearchset): Searchset {
  const { bundle, entries, next } = readBundlePage(answer, { ...expected, kind: 'searchset' })
  const total = bundle['total']
  const items = entries.filter(isMatch).map((entry) => resourceFrom(memberText(entry, 'resource') ?? 'null', { type }))
  if (new Set(items.map(({ id }) => id)).size < items.length) throw unavailable('sent a resource twice')
  return {
    items,
    ...(typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 && { total }),
    ...(next !== undefined && { next }),
  }
}

function isMatch(entry: string): boolean {
  const search: unknown = JSON.parse(memberText(entry, 'search') ?? '{}')
  return isObject(search) && (stringAt(search, 'mode') ?? 'match') === 'match'
}
