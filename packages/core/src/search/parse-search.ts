import { checkHas, checkText, OperationError, quoted } from '../errors/index.js'
import type { TypeModel } from '../fhirpath/index.js'
import { isContainedType, isResourceType, joinAlternatives, type Condition, type SearchQuery, type SortKey } from '../storage/index.js'
import { withNearest } from '../text/index.js'
import { MAX_COUNT, SEARCH_BOUNDS, boundedQuestions, checkCost, overBound, valueCounter } from './bounds.js'
import { allOf, anyOf } from './filter/conditions.js'
import { isSearchable, parseFilter } from './filter/filter.js'
import { kindOf } from './kinds/registry.js'
import { CONTROLS, nearParameters, type SearchParameters } from './parameters/search-parameter.js'
import { isInclude, readIncludes, type Include } from './results/includes.js'
import type { SearchOptions, SearchPair } from './search-options.js'

/** A search for contained resources. */
export interface ContainedSearch {
  /** `true`: only contained resources; `both`: contained and independent resources. */
  readonly among: 'true' | 'both'
  /** Whether to return the container or the contained resource of a match. */
  readonly shown: 'container' | 'contained'
}

/** A parsed search: what to find, and how to return it. */
export interface ParsedSearch {
  /** The query, with `sort`, `limit` (`_count`) and `after` (`_cursor`). */
  readonly query: SearchQuery
  /** True if only the number of matches is requested: `_summary=count`, `_count=0`. */
  readonly countOnly: boolean
  /** `_total`; absent when not requested. */
  readonly total?: 'none' | 'estimate' | 'accurate'
  /** `_summary`, for shortened resources. */
  readonly summary?: 'true' | 'text' | 'data'
  /** Top-level elements of `_elements`, by JSON name or, for a choice of types, without the type (`value`); absent when all are requested. */
  readonly elements?: readonly string[]
  /** `_contained` and `_containedType`; absent when only independent resources are searched. `query` finds only those; see `containedQueries`. */
  readonly contained?: ContainedSearch
  /** `_include` and `_revinclude`; absent when there are none. */
  readonly includes?: readonly Include[]
}

/** A parsed search for several types. */
export interface ParsedSeveral extends Omit<ParsedSearch, 'query'> {
  /** One query per type, all with the same `sort` and `limit`. */
  readonly queries: readonly SearchQuery[]
  /** `_cursor`, for `severalPage`. */
  readonly after?: string
}

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
  checkText('type', type)
  checkHas('options', options, ['parameters'])
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
  if (typeof pairs === 'string' || !(Symbol.iterator in Object(pairs))) throw notPairs(pairs)
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
function notPairs(given: unknown): OperationError {
  const problem = typeof given === 'string' ? `is the text ${quoted(given)}` : 'is neither a list of names and values nor a text'
  return new OperationError('parameter-value', `pairs ${problem}, of which new URLSearchParams makes pairs.`)
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
 * Returns the resource types that a query searches: its own type, and those it reaches by references. The caller needs the right to search each of
 * them. Contained resources count as part of their container.
 */
export function searchTypesOf({ type, where }: Pick<SearchQuery, 'type' | 'where'>): ReadonlySet<string> {
  return new Set([...(isContainedType(type) ? [] : [type]), ...chainedTypes(where)])
}

/** Returns the resource types that a condition reaches by references. */
export function chainedTypes(condition: Condition): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(chainedTypes)
    case 'not':
      return chainedTypes(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return [...searchTypesOf(condition.query)]
    default:
      return []
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

/** The parameters of a search that shape its result. */
type SearchControls = Omit<ParsedSearch, 'query'> & {
  readonly sort: readonly SortKey[]
  /** Maximum number of resources in a page; the adapter chooses when absent. */
  readonly limit?: number
  readonly after?: string
}

const UNSUPPORTED: ReadonlySet<string> = new Set(['_score'])

/** True if a parameter shapes the result instead of selecting resources. */
function isControl(name: string): boolean {
  return CONTROLS.has(name) || isInclude(name) || UNSUPPORTED.has(name.split(':', 1)[0] ?? '')
}

/** True if a parameter shapes the result and is supported. */
function isOffered(name: string): boolean {
  return CONTROLS.has(name) || isInclude(name)
}

/** Reads the parameters that shape the result. Each may be given once, except `_include` and `_revinclude`. */
function readControls(types: readonly string[], all: readonly SearchPair[], options: SearchOptions): SearchControls {
  const { parameters } = options
  const pairs = all.filter(([name]) => !isInclude(name))
  const asked = all.filter(([name]) => isInclude(name))
  const refused = pairs.find(([name]) => !CONTROLS.has(name)) ?? (options.includes === true ? undefined : asked[0])
  if (refused !== undefined) throw unsupported(refused[0], 'is not supported')
  const values = new Map(pairs)
  const repeated = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) < index)?.[0]
  if (repeated !== undefined)
    throw new OperationError('search-invalid', `Search parameter ${quoted(repeated)} may come only once.`, { expression: [repeated] })
  const includes = readIncludes(types, asked, parameters)
  const count = readCount(values.get('_count'))
  const after = values.get('_cursor')
  const sort = readSort(types, values.get('_sort'), parameters)
  const contained = readContained(values, options)
  checkContainedSort(types, { ...contained, sort }, parameters)
  return {
    sort,
    countOnly: values.get('_summary') === 'count' || count === 0,
    ...readSummary(values, includes),
    ...(count !== undefined && count > 0 && { limit: count }),
    ...(after !== undefined && { after }),
    ...contained,
    ...readTotal(values.get('_total')),
    ...readElements(values.get('_elements'), contained.contained?.shown === 'container' ? undefined : types, parameters.model),
    ...(includes.length > 0 && { includes }),
  }
}

function invalid(name: string, value: string, expected: string, hint = ''): OperationError {
  const message = `Search parameter ${quoted(name)} has the value ${quoted(value)}, which is not ${expected}.${hint}`
  return new OperationError('search-invalid', message, { expression: [name] })
}

function unsupported(name: string, problem: string): OperationError {
  return new OperationError('search-unsupported', `Search parameter ${quoted(name)} ${problem}.`, { expression: [name] })
}

/** @see https://hl7.org/fhir/R4/search.html#contained */
function readContained(values: ReadonlyMap<string, string>, { contained: offered }: SearchOptions): Pick<ParsedSearch, 'contained'> {
  const [among, shown] = [values.get('_contained') ?? 'false', values.get('_containedType') ?? 'container']
  if (shown !== 'container' && shown !== 'contained') throw invalid('_containedType', shown, 'container or contained')
  if (among === 'false') return {}
  if (among !== 'true' && among !== 'both') throw invalid('_contained', among, 'true, false or both')
  if (offered !== true) throw unsupported('_contained', `with the value '${among}' is not supported here`)
  return { contained: { among, shown } }
}

/** Refuses orders that are not possible: containers have no values of their contents, and references inside containers do not sort with others. */
function checkContainedSort(
  types: readonly string[],
  { contained, sort }: Pick<SearchControls, 'contained' | 'sort'>,
  parameters: SearchParameters,
): void {
  const params = sort.map(({ param }) => param).filter((param) => param !== '')
  if (contained?.shown === 'container' && params.length > 0) throw unsupported('_sort', 'sorts containers by _id and _lastUpdated only')
  const isReference = (param: string): boolean => types.some((type) => parameters.find(type, param)?.type === 'reference')
  if (contained?.among === 'both' && params.some(isReference))
    throw unsupported('_sort', "cannot sort by references together with _contained 'both'")
}

function readCount(value: string | undefined): number | undefined {
  if (value !== undefined && (!/^\d{1,10}$/.test(value) || Number(value) > MAX_COUNT))
    throw invalid('_count', value, `a whole number from 0 to ${MAX_COUNT}`)
  return value === undefined ? undefined : Number(value)
}

/** A summary of texts cannot have included resources (R4 search 3.1.1.5.8), and no summary can be combined with `_elements`. */
function readSummary(values: ReadonlyMap<string, string>, includes: readonly Include[]): Pick<ParsedSearch, 'summary'> {
  const value = values.get('_summary')
  if (value === undefined || value === 'false' || value === 'count') return {}
  if (value !== 'true' && value !== 'text' && value !== 'data') throw invalid('_summary', value, 'true, text, data, count or false')
  if (values.has('_elements')) throw invalid('_summary', value, 'possible together with _elements')
  if (value === 'text' && includes.length > 0) throw invalid('_summary', value, 'possible together with included resources')
  return { summary: value }
}

function readTotal(value: string | undefined): Pick<ParsedSearch, 'total'> {
  if (value === undefined) return {}
  if (value === 'none' || value === 'estimate' || value === 'accurate') return { total: value }
  throw invalid('_total', value, 'none, estimate or accurate')
}

/** @param types Types of the resources in the result; absent when they may be of any type. */
function readElements(value: string | undefined, types: readonly string[] | undefined, model: TypeModel): Pick<ParsedSearch, 'elements'> {
  if (value === undefined) return {}
  const elements = value.split(',')
  if (elements.length > SEARCH_BOUNDS.elements) throw overBound(SEARCH_BOUNDS.elements, 'names in _elements', '_elements')
  if (!elements.every((element) => /^[a-z][A-Za-z0-9]{0,63}$/.test(element))) throw invalid('_elements', value, 'a list of element names')
  if (types !== undefined) checkElements(elements, types, model)
  return { elements }
}

/** Checks that one of the types has the element; not checked when the definition of a type is missing. */
function checkElements(elements: readonly string[], types: readonly string[], model: TypeModel): void {
  const known = types.flatMap((type) => model.type(type) ?? [])
  if (known.length === 0 || known.length < types.length) return
  const unknown = elements.find(
    (name) => name !== 'resourceType' && !known.some(({ members, elements: slots }) => members.has(name) || slots.has(name)),
  )
  if (unknown === undefined) return
  const names = new Set(known.flatMap(({ elements: slots, members }) => [...slots.keys(), ...members.keys()]))
  const ofTypes = known.length === 1 ? `of ${types[0]}` : 'of the types that are searched'
  const message = `Search parameter '_elements' names ${quoted(unknown)}, which is not an element ${ofTypes}.`
  throw new OperationError('search-invalid', withNearest(message, unknown, names), { expression: ['_elements'] })
}

function readSort(types: readonly string[], value: string | undefined, parameters: SearchParameters): readonly SortKey[] {
  if (value === undefined) return []
  const keys = value.split(',')
  if (keys.some((key) => key === '' || key === '-')) throw invalid('_sort', value, 'a list of search parameters')
  if (keys.length > SEARCH_BOUNDS.sortKeys) throw overBound(SEARCH_BOUNDS.sortKeys, 'keys in _sort', '_sort')
  const names = keys.map((key) => key.replace(/^-/, ''))
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined)
    throw new OperationError('search-invalid', `Search parameter '_sort' has the key ${quoted(repeated)} twice.`, { expression: ['_sort'] })
  return keys.flatMap((key) => commonKey(types, key, parameters))
}

/** Returns the common sort key of several types, which must be of the same kind, because dates and texts have no common order. */
function commonKey(types: readonly string[], asked: string, parameters: SearchParameters): readonly SortKey[] {
  const keys = types.map((type) => sortKey(type, asked, parameters))
  if (keys.some(({ field }) => field !== keys[0]?.field)) throw unsupported('_sort', `cannot sort these types together by ${quoted(asked)}`)
  return keys.slice(0, 1)
}

function unknownSort({ key, param, type }: { key: string; param: string; type: string }, parameters: SearchParameters): OperationError {
  const hint = nearParameters(parameters, { code: param, types: [type], others: ['_id', '_lastUpdated'] })
  return invalid('_sort', key, `a search parameter of ${type}`, hint)
}

function sortKey(type: string, key: string, parameters: SearchParameters): SortKey {
  const descending = key.startsWith('-')
  const param = descending ? key.slice(1) : key
  if (param === '_id') return { param: '', field: 'id', descending }
  if (param === '_lastUpdated') return { param: '', field: 'lastUpdated', descending }
  const parameter = parameters.find(type, param)
  if (parameter === undefined) throw unknownSort({ key, param, type }, parameters)
  const field = kindOf(parameter.kind)?.sortField(descending)
  if (field === undefined) throw unsupported('_sort', `cannot sort by ${quoted(param)}`)
  return { param, field, descending }
}
