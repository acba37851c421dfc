import { createPace } from 'fhir-ops/internal/context'
import { callersSearch, type ParsedSeveral, type SearchPair } from 'fhir-ops/internal/search'
import type { SearchOptions } from 'fhir-ops/search'
import { OperationError } from 'fhir-ops/errors'
import { authorize } from '../../auth/caller.js'
import { authorizeQuery } from '../reach.js'
import { parseForm } from '../../http/target.js'
import type { Exchange } from '../../exchange.js'
import { FHIR_PATH, type Service } from '../../service.js'
import { prefersHandling, PROTOCOL_PARAMETERS } from '../../http/negotiation.js'

/** Returns the parameters of URL and form, without those of the protocol. */
export function searchPairs({ target, body }: Exchange, { limits }: Service): readonly SearchPair[] {
  const form = body === undefined ? [] : parseForm(body.text, limits)
  return [...target.query, ...form].filter(([name]) => !PROTOCOL_PARAMETERS.has(name))
}

/**
 * Returns the parameters to apply: all, or only known ones if the caller prefers lenient handling. The link `self` shows
 * which were applied (R4 search 3.1.1.6).
 */
export function takenPairs({ request }: Exchange, pairs: readonly SearchPair[], isKnown: (name: string) => boolean): readonly SearchPair[] {
  return prefersHandling(request, 'lenient') ? pairs.filter(([name]) => isKnown(name)) : pairs
}

/** Options for parsing the searches of a caller. @throws {OperationError} `search-unsupported` on a server without search. */
export function searchOptions({ baseUrl }: Service, { ctx }: Pick<Exchange, 'ctx'>): SearchOptions {
  const pace = createPace(ctx)
  const options = callersSearch({ ...ctx, step: () => pace.step() })
  if (options === undefined) throw new OperationError('search-unsupported', 'This server has no search.')
  return { base: `${baseUrl}${FHIR_PATH}`, ...options }
}

/** @throws {OperationError} as `authorizeQuery`, for included types too. */
export function authorizeSearch({ caller }: Pick<Exchange, 'caller'>, { queries, includes = [] }: ParsedSeveral): void {
  for (const query of queries) authorizeQuery(caller, query)
  const referring = includes.filter(({ direction }) => direction === 'revinclude')
  for (const { source } of referring) authorize(caller, { action: 'search', type: source })
}
