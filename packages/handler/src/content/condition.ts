import { OperationError, quoted } from 'fhir-ops/errors'
import { parseSearch, searchTypesOf, type SearchPair } from 'fhir-ops/search'
import { allMatches, type StoredResource } from 'fhir-ops/storage'
import { authorize } from '../auth/caller.js'
import type { Call } from '../routes/route.js'
import type { Service } from '../service.js'
import { searchOptions } from './search-options.js'
import { inReach, isShown } from './search-reach.js'

/** The criteria that a conditional request names its resource by. */
export interface Criteria {
  readonly type: string
  readonly pairs: readonly SearchPair[]
}

const PAGE = 100

/**
 * The one resource that meets the criteria, as its caller would find it; `undefined` when there is none.
 *
 * @throws {OperationError} `multiple-matches`; `parameter-required` without criteria; `search-unsupported` for parameters that shape a
 *   result, and on a server without search; `forbidden` unless the caller may search every type of the criteria.
 * @see https://hl7.org/fhir/R4/http.html#cond-update
 */
export async function onlyMatch(
  service: Service,
  { ctx, caller }: Pick<Call, 'ctx' | 'caller'>,
  { type, pairs }: Criteria,
): Promise<StoredResource | undefined> {
  const { query } = await parseSearch(type, pairs, searchOptions(service, { ctx, caller }))
  if (query.parameters?.length !== pairs.length) throw new OperationError('search-unsupported', 'Criteria cannot shape a result.')
  if (pairs.length === 0) throw new OperationError('parameter-required', `A request without an id needs criteria that name the ${type}.`)
  for (const searched of searchTypesOf(query)) authorize(caller, { action: 'search', type: searched })
  let found: StoredResource | undefined
  for await (const match of allMatches(ctx.storage, { ...inReach(query, caller), limit: PAGE })) {
    if (!isShown(caller, match)) continue
    if (found !== undefined) throw severalMatch({ type, pairs })
    found = match
  }
  return found
}

function severalMatch({ type, pairs }: Criteria): OperationError {
  const names = pairs.map(([name]) => name).join(', ')
  return new OperationError('multiple-matches', `Several resources of the type ${type} meet the criteria on ${quoted(names)}.`)
}
