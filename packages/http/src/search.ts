import { quoted } from 'fhir-ops/internal/errors'
import type { Pace } from 'fhir-ops/internal/context'
import { isObject, objectsAt, parseInPieces, stringAt } from 'fhir-ops/internal/json'
import type { Comparison, Condition, EntryTest, SearchPage, SearchQuery, SortKey, StoredResource } from 'fhir-ops/storage'
import { unavailable, unsupported, type Answer, resourceFrom } from './answer.js'
import { linkedPage, memberText, readBundlePage, readCursor, writeCursor, type ExpectedPage, type UpstreamPage } from './bundle-page.js'
import type { HttpSettings } from './options.js'
import type { Pair, Upstream } from './upstream.js'

/** An upstream, with the settings for its calls. */
export interface Reach {
  readonly upstream: Upstream
  readonly settings: HttpSettings
  /** Pace of the work on answers, which ends when the caller has gone. */
  readonly pace: Pace
}

/** Fetches a page of a search. */
export async function searchUpstream(reach: Reach, query: SearchQuery): Promise<SearchPage> {
  const [first, ...others] = searchRequests(query)
  if (first === undefined) return { items: [] }
  return others.length === 0 ? pageOfRequest(reach, query, first) : pageOfUnion(reach, query)
}

/** Returns the exact number of matches, as counted by the upstream. */
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

/** Returns a page of a union; the position in the cursor is the last id. */
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

/** Returns all matches of the query's requests, by ascending id. Such queries are rare, and there are few definitions per key. */
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

async function firstPage({ upstream, settings, pace }: Reach, type: string, pairs: readonly Pair[]): Promise<Searchset> {
  return readSearchset(await upstream.search(type, pairs), { base: settings.base, type, pairs }, pace)
}

async function pageAt(reach: Reach, { type, limit }: Pick<SearchQuery, 'type' | 'limit'>, link: URL): Promise<Searchset> {
  const { upstream, settings, pace } = reach
  return readSearchset(await upstream.page(link, limit), { base: settings.base, type }, pace)
}

function countPair(limit: number | undefined): readonly Pair[] {
  return limit === undefined ? [] : [['_count', String(limit)]]
}

/** A page of a search, parsed and checked. */
export interface Searchset extends UpstreamPage<StoredResource> {
  readonly total?: number
}

/** What an answer must match to be accepted. */
interface ExpectedSearchset extends Omit<ExpectedPage, 'kind'> {
  readonly type: string
}

/**
 * Reads a page of a search. Matches are taken from the text of the bundle, so that numbers keep their digits; included resources, and
 * outcomes without an error, are skipped.
 *
 * @throws {OperationError} as `readBundlePage`; `storage-unavailable` if the page contains another type, a duplicate resource, or an outcome with an error.
 */
async function readSearchset(answer: Answer, { type, ...expected }: ExpectedSearchset, pace: Pace): Promise<Searchset> {
  const { bundle, entries, next } = await readBundlePage(answer, { ...expected, kind: 'searchset' }, pace)
  const total = bundle['total']
  const items: StoredResource[] = []
  for (const entry of entries) {
    await pace.step()
    const mode = await modeOf(entry, pace)
    if (mode === 'outcome' && (await hasFailed(entry, pace))) throw unavailable('reports that a search went wrong')
    if (mode === 'match') items.push(await resourceFrom((await memberText(entry, 'resource', pace)) ?? 'null', { type }, pace))
  }
  if (new Set(items.map(({ id }) => id)).size < items.length) throw unavailable('sent a resource twice')
  return {
    items,
    ...(typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 && { total }),
    ...(next !== undefined && { next }),
  }
}

async function modeOf(entry: string, pace: Pace): Promise<string | undefined> {
  const search = await pace.run(parseInPieces((await memberText(entry, 'search', pace)) ?? '{}'))
  return isObject(search) ? (stringAt(search, 'mode') ?? 'match') : undefined
}

/** True for an outcome with an error: matches may then be missing. */
async function hasFailed(entry: string, pace: Pace): Promise<boolean> {
  const outcome = await pace.run(parseInPieces((await memberText(entry, 'resource', pace)) ?? 'null'))
  return isObject(outcome) && objectsAt(outcome, 'issue').some((issue) => ['error', 'fatal'].includes(stringAt(issue, 'severity') ?? ''))
}

/**
 * Returns the FHIR searches whose results together are those of the query; several of them may find the same resource.
 *
 * @throws {OperationError} `search-unsupported`, naming what cannot be expressed by FHIR search parameters.
 */
function searchRequests(query: SearchQuery): readonly (readonly Pair[])[] {
  return query.parameters === undefined ? requestsFor(query.where) : [query.parameters]
}

/** Returns `_sort` for the keys of the query. */
function sortPairs(sort: readonly SortKey[] = []): readonly Pair[] {
  return sort.length === 0 ? [] : [['_sort', sort.map(({ descending, ...key }) => `${descending ? '-' : ''}${sortName(key)}`).join(',')]]
}

function sortName({ param, field }: Pick<SortKey, 'param' | 'field'>): string {
  if (field === 'id') return '_id'
  return field === 'lastUpdated' ? '_lastUpdated' : param
}

/** Conditions that were not made from search parameters come from engines, which look up definitions by canonical. */
function requestsFor(where: Condition): readonly (readonly Pair[])[] {
  switch (where.kind) {
    case 'and':
      return where.conditions.map(requestsFor).reduce(combined, [[]])
    case 'id':
      return where.ids.length === 0 ? [] : [[['_id', where.ids.map(escaped).join(',')]]]
    case 'lastUpdated':
      return [updatedPairs(where)]
    case 'entry':
      return entryRequests(where)
    default:
      throw unsupported(`a condition of the kind ${quoted(where.kind)}`)
  }
}

function combined(all: readonly (readonly Pair[])[], next: readonly (readonly Pair[])[]): readonly (readonly Pair[])[] {
  return all.flatMap((left) => next.map((right) => [...left, ...right]))
}

function updatedPairs({ from, to }: { readonly from?: number; readonly to?: number }): readonly Pair[] {
  const bounds = [from === undefined ? [] : [`ge${instant(from)}`], to === undefined ? [] : [`le${instant(to)}`]].flat()
  return bounds.map((bound) => ['_lastUpdated', bound])
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/**
 * R4 search parameters that together cover a key of definitions. For a choice (`source[x]`), each type has its own parameter. There is none
 * for the value set of a code system's codes, or for the types that have global profiles in a guide; docs/storage/http.md describes the consequences.
 */
const DEFINITION_PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['definition:url', ['url']],
  ['definition:source', ['source', 'source-uri']],
  ['definition:target', ['target', 'target-uri']],
  ['definition:supplements', ['supplements']],
  ['definition:value-set', []],
  ['definition:base', ['base']],
  ['definition:type', ['type']],
  ['definition:global', []],
])

function entryRequests({ param, all }: EntryTest): readonly (readonly Pair[])[] {
  const names = DEFINITION_PARAMETERS.get(param)
  const values = all.length === 1 ? valuesOf(all[0]) : undefined
  if (names === undefined || values === undefined) throw unsupported(`a test of ${quoted(param)} that was not made from search parameters`)
  return names.map((name) => [[name, values.map(escaped).join(',')]])
}

function valuesOf(comparison: Comparison | undefined): readonly string[] | undefined {
  if (comparison?.field !== 'value') return undefined
  if (comparison.op === 'in') return comparison.operands
  return comparison.op === 'eq' ? [comparison.operand] : undefined
}

/** R4 3.1.1.4.19: these characters separate values unless they are escaped. */
function escaped(value: string): string {
  return value.replaceAll(/[\\,$|]/g, String.raw`\$&`)
}
