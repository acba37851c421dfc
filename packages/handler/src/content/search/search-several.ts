import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import {
  isKnownParameter,
  parseSeveral,
  severalPage,
  showingContained,
  type ParsedSeveral,
  type SearchPair,
} from 'fhir-ops/internal/search'
import type { Condition, SearchPage, SearchQuery } from 'fhir-ops/storage'
import type { Answer } from '../../http/answer.js'
import { param, type Exchange } from '../../exchange.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { fhirTypes, inReach, narrowed, showsTo } from '../reach.js'
import { shownPage, type Part } from '../shown-page.js'
import { compartmentMembers } from 'fhir-ops/internal/context'
import { leadsTo } from './compartment.js'
import { countOf, includedIn, pageLimit, textLength } from './search-page.js'
import { authorizeSearch, searchOptions, searchPairs, takenPairs } from './search-request.js'
import { searchsetAnswer, type SearchLinks, type Searchset } from './searchset.js'
import { subsetFor, type Subset } from './subset.js'

/**
 * Finds resources of all types of FHIR, or of those of `_type`, by parameters that all of them have: as `_sort` says, then type by type in
 * alphabetical order.
 *
 * @throws {OperationError} as `searchType`.
 * @see https://hl7.org/fhir/R4/http.html#search
 */
export function searchEverything(service: Service, exchange: Exchange): Promise<Answer> {
  return searchSeveral(service, exchange, { path: '', types: fhirTypes() })
}

/** As `searchEverything`, among all that is in a compartment. @throws {OperationError} `search-unsupported` without definition. */
export async function searchWholeCompartment(service: Service, exchange: Exchange): Promise<Answer> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  const members = await compartmentMembers(exchange.ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const within = (member: string): Condition => leadsTo(members.get(member) ?? [], { type, id })
  return searchSeveral(service, exchange, { path: `${type}/${id}/*`, types: [...members.keys()].sort(), within })
}

/** Where is searched. */
interface SeveralPlace {
  /** Below the FHIR base, for links. */
  readonly path: string
  readonly types: readonly string[]
  /** What holds for every match of a type beside the parameters. */
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

/** A search that takes several queries, and what its links have. */
interface SeveralSearch extends Pick<SearchLinks, 'path' | 'pairs'> {
  readonly parsed: ParsedSeveral
}

/** The page of the matches of several queries. */
export async function severalAnswer(service: Service, exchange: Exchange, { parsed, path, pairs }: SeveralSearch): Promise<Answer> {
  const isCounted = parsed.countOnly || (parsed.total !== 'none' && !exchange.caller.hides)
  const total = isCounted ? await countOfAll(exchange, parsed.queries) : undefined
  const page = parsed.countOnly ? { items: [] } : await pageOf(service, exchange, parsed)
  const subsets = new Map<string, Subset | undefined>()
  for (const type of new Set(page.items.map((item) => item.type)))
    subsets.set(type, await subsetFor(exchange, searchOptions(service, exchange), { type, parsed }))
  const searchset: Searchset = { ...page, total, subset: (type) => subsets.get(type) }
  return searchsetAnswer(exchange.ctx, searchset, { path, pairs, base: `${service.baseUrl}${FHIR_PATH}` })
}

/** Names in `_type`: more than there are types. */
const MAX_TYPES = 256

/** The types of `_type`, which may be given several times, each time as a list. */
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

async function pageOf(service: Service, exchange: Exchange, { queries, after, includes }: ParsedSeveral): Promise<Searchset> {
  const limit = pageLimit(queries[0]?.limit)
  const { ctx } = exchange
  const found = (part: Part): Promise<SearchPage> =>
    severalPage({ storage: showingContained(ctx.storage, ctx.limits.maxAnswerBytes), indexer: service.indexer }, queries, part)
  const pages = { ctx, pageOf: found, shows: showsTo(exchange), lengthOf: textLength }
  const { items, next } = await shownPage(pages, { limit, ...(after !== undefined && { after }) })
  return { items, included: await includedIn(service, exchange, { items, includes }), next }
}
