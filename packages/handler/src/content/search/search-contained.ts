import { containedQueries, isKnownParameter, parseSearch } from 'fhir-ops/search'
import { authorizeAny } from '../../auth/caller.js'
import type { Answer } from '../../http/answer.js'
import { param, type Exchange } from '../../exchange.js'
import type { Service } from '../../service.js'
import { fhirTypes } from '../fhir-types.js'
import { authorizeSearch, searchPairs, searchResources, takenPairs } from './search.js'
import { severalAnswer } from './search-several.js'
import { searchOptions } from './search-options.js'

/**
 * Finds resources of a type, and with `_contained` those of that type within others.
 *
 * @throws {OperationError} as `searchResources`; `search-unsupported` for `_contained` over a storage that does not find what is contained.
 * @see https://hl7.org/fhir/R4/search.html#contained
 */
export async function searchType(service: Service, exchange: Exchange): Promise<Answer> {
  const sent = searchPairs(exchange, service)
  if (!sent.some(([name]) => name === '_contained')) return searchResources(service, exchange)
  const type = param(exchange, 'type')
  const options = { ...searchOptions(service, exchange), includes: true, contained: exchange.ctx.storage.capabilities.contained }
  const pairs = takenPairs(exchange, sent, (name) => isKnownParameter(type, name, options))
  const { query, contained, ...parsed } = await parseSearch(type, pairs, options)
  if (contained === undefined) return searchResources(service, exchange)
  const queries = containedQueries(query, contained, contained.shown === 'container' ? searchableTypes(exchange) : [])
  if (contained.shown === 'contained')
    for (const container of fhirTypes()) authorizeAny(exchange.caller, [{ action: 'search', type: container, whole: true }])
  authorizeSearch(exchange, { ...parsed, queries: [query, ...queries] })
  const after = query.after === undefined ? {} : { after: query.after }
  return severalAnswer(service, exchange, { parsed: { ...parsed, ...after, queries }, path: type, pairs })
}

/** Containers of other types are left out, as if they did not exist. */
function searchableTypes({ caller }: Exchange): readonly string[] {
  return fhirTypes().filter((type) => caller.decide('search', type) === 'allow')
}
