import { OperationError, quoted } from '../errors/index.js'
import { isResourceType, joinAlternatives, type Condition, type SearchQuery } from '../storage/index.js'
import { allOf, anyOf } from './filter/conditions.js'
import { isSearchable, parseFilter } from './filter/filter.js'
import type { ParsedSearch, ParsedSeveral } from './parsed-search.js'
import { isControl, isOffered, readControls } from './controls.js'
import { boundedQuestions, checkCost, overBound, SEARCH_BOUNDS, valueCounter } from './bounds.js'
import type { SearchOptions, SearchPair } from './search-options.js'

/**
 * Parses a FHIR search for one type, from a REST request or from a criterion of a measure. A resource must match all parameters. No parameter
 * is ignored: an unknown one is refused by name.
 *
 * @param pairs Decoded parameters in their order.
 * @throws {OperationError} `search-invalid` for an invalid search (unknown types, parameters and modifiers, malformed values),
 *   `search-unsupported` for features of FHIR that are not supported, `too-costly` for a search that exceeds `SEARCH_BOUNDS`.
 * @see https://hl7.org/fhir/R4/search.html
 */
export async function parseSearch(type: string, pairs: Iterable<SearchPair>, options: SearchOptions): Promise<ParsedSearch> {
  const { queries, after, ...shown } = await parseSeveral([type], pairs, options)
  const query: SearchQuery = { type, where: allOf([]), ...queries[0] }
  return { query: after === undefined ? query : { ...query, after }, ...shown }
}

/**
 * Parses a search for several types, by parameters that all of them have. `_type` is not read, because the caller has already applied it to `types`.
 *
 * @throws {OperationError} as `parseSearch`.
 * @see https://hl7.org/fhir/R4/http.html#search
 */
export async function parseSeveral(types: readonly string[], pairs: Iterable<SearchPair>, options: SearchOptions): Promise<ParsedSeveral> {
  const wrong = types.find((type) => !isResourceType(type))
  if (wrong !== undefined) throw new OperationError('search-invalid', `${quoted(wrong)} is not a resource type.`)
  if (typeof pairs === 'string') throw notPairs(pairs)
  const all = [...pairs]
  const most = options.maxParameters ?? SEARCH_BOUNDS.parameters
  if (all.length > most) throw overBound(most, 'parameters')
  const parameters = all.filter(([name]) => !isControl(name))
  const controls = readControls(
    types,
    all.filter(([name]) => isControl(name)),
    options,
  )
  const { sort, limit, ...shown } = controls
  const common = { parameters, ...(sort.length > 0 && { sort }), ...(limit !== undefined && { limit }) }
  const queries: SearchQuery[] = []
  const bounded = boundedQuestions(options)
  for (const type of types) queries.push({ type, where: await conditionOf(type, parameters, bounded), ...common })
  return { queries, ...shown }
}

/** The error for a search in plain JavaScript whose parameters are not decoded. */
function notPairs(text: string): OperationError {
  return new OperationError('parameter-value', `pairs is the text ${quoted(text)}, of which new URLSearchParams makes pairs.`)
}

async function conditionOf(type: string, parameters: readonly SearchPair[], options: SearchOptions): Promise<Condition> {
  const conditions: Condition[] = []
  const values = valueCounter()
  for (const [name, value] of parameters)
    conditions.push(await parseFilter({ type, options, depth: 0, ways: 1, values, sent: name }, name, value))
  const where = allOf(conditions)
  checkCost(where)
  return withLists(where)
}

/** Fewest values that become a list. Storages keep the matches of single values, which are often repeated; a long list seldom is. */
const MANY_VALUES = 33

/** Joins the values of long lists, so that a storage looks for thousands of codes or references once, instead of for each. */
function withLists(condition: Condition): Condition {
  switch (condition.kind) {
    case 'or':
      return anyOf(joinAlternatives(condition.conditions.map(withLists), { from: MANY_VALUES }))
    case 'and':
      return { kind: 'and', conditions: condition.conditions.map(withLists) }
    case 'not':
      return { kind: 'not', condition: withLists(condition.condition) }
    case 'refersTo':
    case 'referredBy':
      return { ...condition, query: { ...condition.query, where: withLists(condition.query.where) } }
    default:
      return condition
  }
}

/**
 * True if a search for a type accepts a parameter with this name. Modifiers, chains and values are not checked: errors in them are refused
 * even by a lenient server.
 */
export function isKnownParameter(type: string, name: string, options: SearchOptions): boolean {
  const code = /^[^.:]*/.exec(name)?.[0] ?? ''
  return isOffered(name) || code === '_has' || isSearchable(options, type, code)
}
