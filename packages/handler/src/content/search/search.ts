import { containedQueries, isKnownParameter, type ContainedSearch, type SearchPair } from 'fhir-ops/internal/search'
import { parseSearch, type ParsedSearch } from 'fhir-ops/search'
import type { Condition, SearchPage, SearchQuery } from 'fhir-ops/storage'
import { authorizeAny } from '../../auth/caller.js'
import { fhirTypes, inReach, narrowed, showsTo } from '../reach.js'
import { shownPage, type Part } from '../shown-page.js'
import { param, type Exchange } from '../../exchange.js'
import type { Answer } from '../../http/answer.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { DEFINITION_TYPES } from '../definition-shelf.js'
import { withDefinitions } from '../definitions.js'
import { compartmentCondition } from './compartment.js'
import { countOf, includedIn, pageLimit, textLength } from './search-page.js'
import { authorizeSearch, searchOptions, searchPairs, takenPairs } from './search-request.js'
import { severalAnswer } from './search-several.js'
import { searchsetAnswer, type Searchset } from './searchset.js'
import { subsetFor } from './subset.js'

/**
 * Finds resources of a type (GET, and POST with a form), and with `_contained` those of that type within others. What is not understood is
 * refused by name.
 *
 * @throws {OperationError} as `parseSearch`; `search-unsupported` for `_contained` over a storage that does not find what is contained;
 *   `forbidden` unless the caller may search every type that the query looks at.
 */
export function searchType(service: Service, exchange: Exchange): Promise<Answer> {
  const type = param(exchange, 'type')
  return searchAt(service, exchange, { type, path: type })
}

/** As `searchType`, among the resources of a compartment. @throws {OperationError} as `compartmentCondition`, too. */
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
    : { ...(await pageOf(service, exchange, { query, parsed })), subset: () => subset }
  return searchsetAnswer(exchange.ctx, { ...searchset, ...hintAt(service, type) }, { path, pairs, base })
}

/** A search for contained resources, as it was read. */
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

/** Containers of other types are left out, as if they did not exist. */
function searchableTypes({ caller }: Exchange): readonly string[] {
  return fhirTypes().filter((type) => caller.decide('search', type) === 'allow')
}

/** Says where something may be that was not looked at. */
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
