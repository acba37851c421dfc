import { checkpoint, createPace } from 'fhir-ops/context'
import {
  includedResources,
  isKnownParameter,
  parseSearch,
  searchTypesOf,
  type Include,
  type ParsedSearch,
  type ParsedSeveral,
  type SearchPair,
} from 'fhir-ops/search'
import { allMatches, type Condition, type SearchPage, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import { authorize } from '../../auth/caller.js'
import type { Answer } from '../../http/answer.js'
import { parseQuery } from '../../http/target.js'
import { param, type Exchange } from '../../exchange.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { compartmentCondition } from './compartment.js'
import { prefersHandling } from '../preference.js'
import { isReached } from '../reach.js'
import { shownPage, type Part } from '../shown-page.js'
import { searchOptions } from './search-options.js'
import { inReach, isShown, narrowed, showsTo } from './search-reach.js'
import { subsetFor } from './summary.js'
import { searchsetAnswer, type Searchset } from './searchset.js'

/** Matches of a page without `_count`. */
export const DEFAULT_PAGE = 100
/** Most matches of a page. */
export const MAX_PAGE = 1_000
const MAX_INCLUDED = 5_000

/** Parameters of the protocol, which select nothing. */
export const PROTOCOL: ReadonlySet<string> = new Set(['_format', '_pretty'])

/**
 * Finds resources of a type (GET, and POST with a form). What is not understood is refused by name.
 *
 * @throws {OperationError} as `parseSearch`; `forbidden` unless the caller may search every type that the query looks at.
 */
export function searchResources(service: Service, exchange: Exchange): Promise<Answer> {
  const type = param(exchange, 'type')
  return searchAt(service, exchange, { type, path: type })
}

/** As `searchResources`, among the resources of a compartment. @throws {OperationError} as `compartmentCondition`, too. */
export async function searchCompartment(service: Service, exchange: Exchange): Promise<Answer> {
  const [type, id, member] = [param(exchange, 'type'), param(exchange, 'id'), param(exchange, 'member')]
  const within = await compartmentCondition(exchange.ctx, { type, id, member })
  return searchAt(service, exchange, { type: member, path: `${type}/${id}/${member}`, within })
}

/** Where is searched, and how. */
interface SearchPlace {
  readonly type: string
  /** Below the FHIR base, for links. */
  readonly path: string
  /** What holds for every match beside the parameters. */
  readonly within?: Condition
}

async function searchAt(service: Service, exchange: Exchange, { type, path, within }: SearchPlace): Promise<Answer> {
  const base = `${service.baseUrl}${FHIR_PATH}`
  const options = searchOptions(service, exchange)
  const pairs = takenPairs(exchange, searchPairs(exchange, service), (name) => isKnownParameter(type, name, options))
  const parsed = await parseSearch(type, pairs, { ...options, includes: true })
  authorizeSearch(exchange, { ...parsed, queries: [parsed.query] })
  const reached = inReach(parsed.query, exchange.caller)
  const query = within === undefined ? reached : narrowed(reached, within)
  const subset = await subsetFor(exchange, options, { type, parsed })
  const searchset = parsed.countOnly
    ? { items: [], total: await countOf(exchange, query) }
    : { ...(await pageOf(service, exchange, { query, parsed })), subset: () => subset }
  return searchsetAnswer(exchange.ctx, searchset, { path, pairs, base })
}

/** @throws {OperationError} `forbidden` unless the caller may search every type that the search looks at. */
export function authorizeSearch({ caller }: Pick<Exchange, 'caller'>, { queries, includes = [] }: ParsedSeveral): void {
  const referring = includes.filter(({ direction }) => direction === 'revinclude').map(({ source }) => source)
  for (const type of [...queries.flatMap((query) => [...searchTypesOf(query)]), ...referring]) authorize(caller, { action: 'search', type })
}

/**
 * The parameters that are looked at: all, unless the caller wants those that are not known to be passed over. The link `self` tells
 * which they were (R4 search 3.1.1.1.2).
 */
export function takenPairs({ request }: Exchange, pairs: readonly SearchPair[], isKnown: (name: string) => boolean): readonly SearchPair[] {
  return prefersHandling(request, 'lenient') ? pairs.filter(([name]) => isKnown(name)) : pairs
}

/** The parameters of URL and form, without those of the protocol. */
export function searchPairs({ target, body }: Exchange, { limits }: Service): readonly SearchPair[] {
  const form = body === undefined ? [] : parseQuery(body.text, limits)
  return [...target.query, ...form].filter(([name]) => !PROTOCOL.has(name))
}

/** The number of matches. Where a rule of the host may hide some, each is looked at. */
export async function countOf({ ctx, caller }: Exchange, query: SearchQuery): Promise<number> {
  if (!caller.hides) return ctx.storage.count(query)
  const pace = createPace(ctx)
  let shown = 0
  for await (const match of allMatches(ctx.storage, { ...query, limit: MAX_PAGE })) {
    pace.check()
    if (pace.due()) await pace.pause()
    if (isShown(caller, match)) shown += 1
  }
  return shown
}

async function pageOf(
  service: Service,
  exchange: Exchange,
  { query, parsed }: { readonly query: SearchQuery; readonly parsed: ParsedSearch },
): Promise<Searchset> {
  const { ctx, caller } = exchange
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const found = (part: Part): Promise<SearchPage> => ctx.storage.search({ ...query, ...part })
  const { items, next } = await shownPage({ ctx, pageOf: found, shows: showsTo(caller) }, { ...query, limit })
  const total = parsed.total === 'none' || caller.hides ? undefined : await ctx.storage.count(query)
  const included = await includedIn(service, exchange, { items, includes: parsed.includes })
  return { items, included, total, next }
}

interface Including {
  readonly items: readonly StoredResource[]
  readonly includes: readonly Include[] | undefined
}

/** What the caller may not read is left out, as if it did not exist. */
export function includedIn(
  { indexer }: Service,
  { ctx, caller }: Exchange,
  { items, includes = [] }: Including,
): Promise<readonly StoredResource[]> {
  const shows = (found: StoredResource): boolean => caller.decide('read', found.type, found.id) === 'allow' && isReached(caller, found)
  return includedResources({ storage: ctx.storage, indexer, shows, limit: MAX_INCLUDED, check: () => checkpoint(ctx) }, items, includes)
}
