import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { parseSearch } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import { allMatches, type Condition, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { Exchange } from '../exchange.js'
import { FHIR_PATH, type Service } from '../service.js'
import { authorizeQuery, inReach, isShown } from './reach.js'
import { searchOptions } from './search/search-request.js'

/** The criteria of a conditional request. */
export interface Criteria {
  readonly type: string
  readonly pairs: readonly SearchPair[]
}

/** Returns the criteria of `If-None-Exist`, without a prefix `Patient?` or `?` (as in R4's examples) or the full address (as sent by HAPI's client). */
export function criteriaText({ baseUrl }: Pick<Service, 'baseUrl'>, type: string, header: string): string {
  const prefix = [`${baseUrl}${FHIR_PATH}/${type}?`, `${type}?`, '?'].find((one) => header.startsWith(one)) ?? ''
  return header.slice(prefix.length)
}

const PAGE = 100

/** Who asks, and in which storage. */
type Asking = Pick<Exchange, 'ctx' | 'caller'>

/** Returns the only resource that meets the criteria; `undefined` if there is none. @throws {OperationError} as `matchesOf`. */
export async function onlyMatch(service: Service, asking: Asking, criteria: Criteria): Promise<StoredResource | undefined> {
  return (await onlyMatchWithCondition(service, asking, criteria)).match
}

/** The only resource that meets the criteria, if there is one. */
interface OnlyMatch {
  readonly match: StoredResource | undefined
  /** The criteria, for the storage to check when the resource is stored. Absent if it does not. */
  readonly ifOnlyMatch: Condition | undefined
}

/** Looks for the only resource that meets the criteria. @throws {OperationError} as `matchesOf`. */
export async function onlyMatchWithCondition(service: Service, asking: Asking, criteria: Criteria): Promise<OnlyMatch> {
  const { found, query, hidden } = await lookUp(service, asking, { ...criteria, most: 1 })
  const [match] = found
  if (!checksCriteria(asking)) return { match, ifOnlyMatch: undefined }
  const shown: Condition = { kind: 'not', condition: { kind: 'id', ids: hidden } }
  return { match, ifOnlyMatch: hidden.length === 0 ? query.where : { kind: 'and', conditions: [query.where, shown] } }
}

/** True if the storage checks the criteria of a conditional write when it stores the resource. */
export function checksCriteria({ ctx }: Pick<Asking, 'ctx'>): boolean {
  return ctx.storage.capabilities.conditionalWrites === true
}

/** The criteria of a search, with the maximum number of matches. */
interface Wanted extends Criteria {
  readonly most: number
}

/**
 * Returns the resources that meet the criteria and that the caller could find.
 *
 * @throws {OperationError} `multiple-matches` for more than `most`; `parameter-required` without criteria; `search-unsupported` for result parameters,
 *   and on a server without search; `forbidden` unless the caller may search every type in the criteria.
 * @see https://hl7.org/fhir/R4/http.html#cond-update
 */
export async function matchesOf(service: Service, asking: Asking, wanted: Wanted): Promise<readonly StoredResource[]> {
  return (await lookUp(service, asking, wanted)).found
}

interface LookedUp {
  readonly found: readonly StoredResource[]
  readonly query: SearchQuery
  /** Ids of resources that meet the criteria and that the caller could not find. */
  readonly hidden: readonly string[]
}

async function lookUp(service: Service, { ctx, caller }: Asking, { type, pairs, most }: Wanted): Promise<LookedUp> {
  const { query: asked } = await parseSearch(type, pairs, searchOptions(service, { ctx }))
  if (asked.parameters?.length !== pairs.length)
    throw new OperationError('search-unsupported', 'Criteria cannot contain parameters that shape a result.')
  if (pairs.length === 0) throw new OperationError('parameter-required', `A request without an id needs criteria that name the ${type}.`)
  authorizeQuery(caller, asked)
  const query = inReach(asked, caller)
  const found: StoredResource[] = []
  const hidden: string[] = []
  for await (const match of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    if (!(await isShown({ ctx, caller }, match))) hidden.push(match.id)
    else if (found.length === most) throw tooManyMatch({ type, pairs }, most)
    else found.push(match)
  }
  return { found, query, hidden }
}

function tooManyMatch({ type, pairs }: Criteria, most: number): OperationError {
  const names = pairs.map(([name]) => name).join(', ')
  const several = most === 1 ? 'Several' : `More than ${most}`
  return new OperationError('multiple-matches', `${several} resources of the type ${type} meet the criteria on ${quoted(names)}.`)
}
