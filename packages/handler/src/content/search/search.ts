import { OperationError } from 'fhir-ops/errors'
import { compartmentCondition, compartmentMembers, createPace, leadsTo } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import {
  containedQueries,
  isKnownParameter,
  parseSeveral,
  severalPage,
  showingContained,
  type ContainedSearch,
  type ParsedSeveral,
  type SearchPair,
} from 'fhir-ops/internal/search'
import { parseSearch, type ParsedSearch } from 'fhir-ops/search'
import type { Condition, SearchPage, SearchQuery } from 'fhir-ops/storage'
import { authorizeAny } from '../../auth/caller.js'
import { param, type Exchange } from '../../exchange.js'
import type { Answer } from '../../http/answer.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { DEFINITION_TYPES } from '../definition-shelf.js'
import { withDefinitions } from '../definitions.js'
import { fhirTypes, inReach, narrowed, shownPage, showsTo, type Part } from '../reach.js'
import { authorizeSearch, searchOptions, searchPairs, takenPairs } from './search-request.js'
import { countOf, includedIn, pacedEntries, pageLimit, searchsetAnswer, textLength, type SearchLinks, type Searchset } from './searchset.js'
import { subsetFor, subsetsFor } from './subset.js'

/**
 * Searches resources of a type (GET, or POST with a form) and, with `_contained`, contained resources of that type. Unknown parameters are
 * refused by name.
 *
 * @throws {OperationError} as `parseSearch`; `search-unsupported` for `_contained` with a storage that does not index contained resources;
 *   `forbidden` unless the caller may search every type in the query.
 */
export function searchType(service: Service, exchange: Exchange): Promise<Answer> {
  const type = param(exchange, 'type')
  return searchAt(service, exchange, { type, path: type })
}

/** As `searchType`, within a compartment. @throws {OperationError} also as `compartmentCondition`. */
export async function searchCompartment(service: Service, exchange: Exchange): Promise<Answer> {
  const [type, id, member] = [param(exchange, 'type'), param(exchange, 'id'), param(exchange, 'member')]
  const within = await compartmentCondition(exchange.ctx, { type, id, member })
  return searchAt(service, exchange, { type: member, path: `${type}/${id}/${member}`, within })
}

/** The scope of a search. */
interface SearchPlace {
  readonly type: string
  /** Path below the FHIR base, for links. */
  readonly path: string
  /** Condition for every match, in addition to the parameters. */
  readonly within?: Condition
}

async function searchAt(service: Service, asked: Exchange, { type, path, within }: SearchPlace): Promise<Answer> {
  const exchange = { ...asked, ctx: await withDefinitions(service, asked, type) }
  const base = `${service.baseUrl}${FHIR_PATH}`
  const mayContain = within === undefined && asked.ctx.storage.capabilities.contained
  const options = { ...searchOptions(service, exchange), includes: true, contained: mayContain }
  const pairs = takenPairs(exchange, searchPairs(exchange, service), (name) => isKnownParameter(type, name, options))
  const { contained, ...parsed } = await parseSearch(type, pairs, options)
  if (contained !== undefined) return searchContained(service, asked, { parsed, contained, pairs })
  authorizeSearch(exchange, { ...parsed, queries: [parsed.query] })
  const reached = inReach(parsed.query, exchange.caller)
  const query = within === undefined ? reached : narrowed(reached, within)
  const subset = await subsetFor(exchange, options, { type, parsed })
  const searchset = parsed.countOnly
    ? { items: [], total: await countOf(exchange, query) }
    : { ...(await pageOf(service, exchange, { query, parsed })), ...hintAt(service, type), subset: () => subset }
  return searchsetAnswer(exchange.ctx, searchset, { path, pairs, base })
}

/** A parsed search for contained resources. */
interface AskedContained {
  readonly parsed: ParsedSearch
  readonly contained: ContainedSearch
  readonly pairs: readonly SearchPair[]
}

/** @see https://hl7.org/fhir/R4/search.html#contained */
function searchContained(service: Service, exchange: Exchange, { parsed, contained, pairs }: AskedContained): Promise<Answer> {
  const { query, ...shown } = parsed
  const queries = containedQueries(query, contained, contained.shown === 'container' ? searchableTypes(exchange) : [])
  if (contained.shown === 'contained')
    for (const container of fhirTypes()) authorizeAny(exchange.caller, [{ action: 'search', type: container, whole: true }])
  authorizeSearch(exchange, { ...shown, queries: [query, ...queries] })
  const after = query.after === undefined ? {} : { after: query.after }
  return severalAnswer(service, exchange, { parsed: { ...shown, ...after, queries }, path: query.type, pairs })
}

/** Types of containers that the caller may search; other containers are omitted, as if they did not exist. */
function searchableTypes({ caller }: Exchange): readonly string[] {
  return fhirTypes().filter((type) => caller.decide('search', type) === 'allow')
}

/** Adds a hint if some source of definitions cannot be searched. */
function hintAt({ definitions, ctx }: Service, type: string): Pick<Searchset, 'hint'> {
  if (!definitions.isPartlyHidden || !DEFINITION_TYPES.has(type)) return {}
  const text = `A source of definitions of this server cannot list what it has: a ${type} that is not found here may be there. Operations find it by its url.`
  const issue = [{ severity: 'warning', code: 'incomplete', details: { text } }]
  return { hint: { resourceType: 'OperationOutcome', id: ctx.newId(), issue } }
}

async function pageOf(
  service: Service,
  exchange: Exchange,
  { query, parsed }: { readonly query: SearchQuery; readonly parsed: ParsedSearch },
): Promise<Searchset> {
  const { ctx, caller } = exchange
  const limit = pageLimit(query.limit)
  const found = (part: Part): Promise<SearchPage> => ctx.storage.search({ ...query, ...part })
  const { items, next } = await shownPage(
    { ctx, pageOf: found, shows: showsTo(exchange, query.type), lengthOf: textLength },
    { ...query, limit },
  )
  const total = parsed.total === 'none' || caller.hides || query.type === 'Binary' ? undefined : await ctx.storage.count(query)
  const included = await includedIn(service, exchange, { items, includes: parsed.includes })
  return { items, included, total, next }
}

/**
 * Searches all resource types, or those in `_type`, by parameters that all of them have. Results are in the order of `_sort`, then by type
 * in alphabetical order.
 *
 * @throws {OperationError} as `searchType`.
 * @see https://hl7.org/fhir/R4/http.html#search
 */
export function searchEverything(service: Service, exchange: Exchange): Promise<Answer> {
  return searchSeveral(service, exchange, { path: '', types: fhirTypes() })
}

/** As `searchEverything`, within a compartment. @throws {OperationError} `search-unsupported` without a definition. */
export async function searchWholeCompartment(service: Service, exchange: Exchange): Promise<Answer> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  const members = await compartmentMembers(exchange.ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const within = (member: string): Condition => leadsTo(members.get(member) ?? [], { type, id })
  return searchSeveral(service, exchange, { path: `${type}/${id}/*`, types: [...members.keys()].sort(), within })
}

/** The scope of a search of several types. */
interface SeveralPlace {
  /** Path below the FHIR base, for links. */
  readonly path: string
  readonly types: readonly string[]
  /** Condition for every match of a type, in addition to the parameters. */
  readonly within?: (type: string) => Condition
}

async function searchSeveral(service: Service, exchange: Exchange, place: SeveralPlace): Promise<Answer> {
  const sent = searchPairs(exchange, service)
  const types = askedTypes(place.types, sent)
  const options = searchOptions(service, exchange)
  const isKnown = (name: string): boolean => name === '_type' || types.every((type) => isKnownParameter(type, name, options))
  const pairs = takenPairs(exchange, sent, isKnown)
  const { queries: asked, ...parsed } = await parseSeveral(
    types,
    pairs.filter(([name]) => name !== '_type'),
    { ...options, includes: true },
  )
  authorizeSearch(exchange, { queries: asked, ...parsed })
  const queries = asked.map((query) => queryAt(exchange, place, query))
  return severalAnswer(service, exchange, { parsed: { ...parsed, queries }, path: place.path, pairs })
}

/** A search that consists of several queries, with the content of its links. */
interface SeveralSearch extends Pick<SearchLinks, 'path' | 'pairs'> {
  readonly parsed: ParsedSeveral
}

/** Returns a page of matches of several queries. */
async function severalAnswer(service: Service, exchange: Exchange, { parsed, path, pairs }: SeveralSearch): Promise<Answer> {
  const isCounted = parsed.countOnly || (parsed.total !== 'none' && !exchange.caller.hides)
  const total = isCounted ? await countOfAll(exchange, parsed.queries) : undefined
  const page = parsed.countOnly ? { items: [] } : await pageOfSeveral(service, exchange, parsed)
  const types = page.items.map(({ type }) => type)
  const subset = await subsetsFor(exchange, searchOptions(service, exchange), { types, parsed })
  const searchset: Searchset = { ...page, total, subset }
  return searchsetAnswer(exchange.ctx, searchset, { path, pairs, base: `${service.baseUrl}${FHIR_PATH}` })
}

/** Maximum number of names in `_type`; higher than the number of types. */
const MAX_TYPES = 256

/** Returns the types of `_type`, which may be repeated and may contain lists. */
function askedTypes(types: readonly string[], pairs: readonly SearchPair[]): readonly string[] {
  const asked = pairs.filter(([name]) => name === '_type').map(([, value]) => value.split(','))
  const names = asked.reduce((sum, list) => sum + list.length, 0)
  if (names > MAX_TYPES)
    throw new OperationError('too-costly', `A search has at most ${MAX_TYPES} names in _type.`, { expression: ['_type'] })
  const unknown = asked.flat().find((type) => !types.includes(type))
  if (unknown !== undefined)
    throw new OperationError('search-invalid', `${quoted(unknown)} is not a type that can be searched here.`, { expression: ['_type'] })
  const searched = types.filter((type) => asked.every((list) => list.includes(type)))
  if (searched.length === 0) throw new OperationError('search-invalid', 'No type is searched.', { expression: ['_type'] })
  return searched
}

function queryAt({ caller }: Exchange, { within }: SeveralPlace, query: SearchQuery): SearchQuery {
  const reached = inReach(query, caller)
  return within === undefined ? reached : narrowed(reached, within(query.type))
}

async function countOfAll(exchange: Exchange, queries: readonly SearchQuery[]): Promise<number> {
  const counts = await Promise.all(queries.map((query) => countOf(exchange, query)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function pageOfSeveral(service: Service, exchange: Exchange, { queries, after, includes }: ParsedSeveral): Promise<Searchset> {
  const limit = pageLimit(queries[0]?.limit)
  const { ctx } = exchange
  const entriesOf = pacedEntries(service, exchange, createPace(ctx))
  const found = (part: Part): Promise<SearchPage> =>
    severalPage({ storage: showingContained(ctx.storage, ctx.limits.maxAnswerBytes), indexer: service.indexer, entriesOf }, queries, part)
  const pages = { ctx, pageOf: found, shows: showsTo(exchange), lengthOf: textLength }
  const { items, next } = await shownPage(pages, { limit, ...(after !== undefined && { after }) })
  return { items, included: await includedIn(service, exchange, { items, includes }), next }
}
