import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { parseSearch } from 'fhir-ops/search'
import { type SearchPair, searchTypesOf } from 'fhir-ops/internal/search'
import { allMatches, type Condition, type IndexEntry, type StoredResource } from 'fhir-ops/storage'
import { authorize } from '../auth/caller.js'
import type { Exchange } from '../exchange.js'
import { FHIR_PATH, type Service } from '../service.js'
import { inReach, isShown } from './reach.js'
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

/** What a conditional write holds while it runs: the value that it looks for, and together with others what its resource has. */
interface WriteKeys {
  readonly keys: readonly string[]
  /** Keys that other conditional creates may hold at the same time. */
  readonly shared: readonly string[]
}

/** With more values, a create waits for all conditional writes of its type: taking so many keys takes longer. */
const MOST_VALUES = 200

/**
 * Returns what a conditional create holds. If its criteria contain a value, such as an identifier, it waits for creates whose resource has this value, and
 * for those whose criteria contain a value of its resource, besides other kinds of conditional writes of the type; otherwise for all of them.
 *
 * @throws {OperationError} as `parseSearch`.
 */
export async function keysOfCreate(service: Service, { ctx, body }: Exchange, { type, pairs }: Criteria): Promise<WriteKeys> {
  const { query } = await parseSearch(type, pairs, searchOptions(service, { ctx }))
  const wanted = exactValue(query.where)
  const alone = { keys: [type], shared: [] }
  if (wanted === undefined || body?.json === undefined) return alone
  const { indexer } = service
  const entries = indexer.work === undefined ? indexer(body.json) : await createPace(ctx).run(indexer.work(body.json))
  const shared = new Set([type, ...entries.flatMap(({ param, value }) => (value === undefined ? [] : keyOf(type, param, value)))])
  return shared.size > MOST_VALUES ? alone : { keys: [keyOf(type, wanted.param, wanted.value)], shared: [...shared] }
}

function keyOf(type: string, param: string, value: string): string {
  return `${type}?${param}=${value}`
}

/** Returns a value that every match has among its index entries. */
function exactValue(where: Condition): Required<Pick<IndexEntry, 'param' | 'value'>> | undefined {
  if (where.kind === 'and') return where.conditions.map(exactValue).find((value) => value !== undefined)
  if (where.kind !== 'entry') return undefined
  const { param } = where
  const value = where.all.flatMap((test) => (test.field === 'value' && test.op === 'eq' ? test.operand : [])).at(0)
  return value === undefined ? undefined : { param, value }
}

const PAGE = 100

/** Returns the only resource that meets the criteria; `undefined` if there is none. @throws {OperationError} as `matchesOf`. */
export async function onlyMatch(
  service: Service,
  exchange: Pick<Exchange, 'ctx' | 'caller'>,
  criteria: Criteria,
): Promise<StoredResource | undefined> {
  const [match] = await matchesOf(service, exchange, { ...criteria, most: 1 })
  return match
}

/**
 * Returns the resources that meet the criteria and that the caller could find.
 *
 * @throws {OperationError} `multiple-matches` for more than `most`; `parameter-required` without criteria; `search-unsupported` for result parameters,
 *   and on a server without search; `forbidden` unless the caller may search every type in the criteria.
 * @see https://hl7.org/fhir/R4/http.html#cond-update
 */
export async function matchesOf(
  service: Service,
  { ctx, caller }: Pick<Exchange, 'ctx' | 'caller'>,
  { type, pairs, most }: Criteria & { readonly most: number },
): Promise<readonly StoredResource[]> {
  const { query } = await parseSearch(type, pairs, searchOptions(service, { ctx }))
  if (query.parameters?.length !== pairs.length)
    throw new OperationError('search-unsupported', 'Criteria cannot contain parameters that shape a result.')
  if (pairs.length === 0) throw new OperationError('parameter-required', `A request without an id needs criteria that name the ${type}.`)
  for (const searched of searchTypesOf(query)) authorize(caller, { action: 'search', type: searched })
  const found: StoredResource[] = []
  for await (const match of allMatches(ctx.storage, { ...inReach(query, caller), limit: PAGE })) {
    if (!(await isShown({ ctx, caller }, match))) continue
    if (found.length === most) throw tooManyMatch({ type, pairs }, most)
    found.push(match)
  }
  return found
}

function tooManyMatch({ type, pairs }: Criteria, most: number): OperationError {
  const names = pairs.map(([name]) => name).join(', ')
  const several = most === 1 ? 'Several' : `More than ${most}`
  return new OperationError('multiple-matches', `${several} resources of the type ${type} meet the criteria on ${quoted(names)}.`)
}
