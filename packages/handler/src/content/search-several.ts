import { OperationError, quoted } from 'fhir-ops/errors'
import { parseSearch, type ParsedSearch, type SearchPair } from 'fhir-ops/search'
import type { Condition, SearchQuery, StoredResource } from 'fhir-ops/storage'
import { fhirText, type Answer } from '../http/answer.js'
import { param, type Call } from '../routes/route.js'
import { FHIR_PATH, type Service } from '../service.js'
import { bounded } from './bounded.js'
import { compartmentMembers, leadsTo } from './compartment.js'
import { fhirTypes } from './fhir-types.js'
import { authorizeSearch, DEFAULT_PAGE, MAX_PAGE, searchPairs } from './search.js'
import { searchOptions } from './search-options.js'
import { inReach, isShown, narrowed } from './search-reach.js'
import { searchsetText, type Searchset } from './searchset.js'
import type { Subset } from './subset.js'
import { subsetFor } from './summary.js'

/**
 * Finds resources of all types of FHIR, or of those of `_type`, by parameters that all of them have: type by type in alphabetical order.
 *
 * @throws {OperationError} as `searchResources`; `search-unsupported` for `_sort`, `_include` and `_revinclude`.
 * @see https://hl7.org/fhir/R4/http.html#search
 */
export function searchEverything(service: Service, call: Call): Promise<Answer> {
  return searchSeveral(service, call, { path: '', types: fhirTypes() })
}

/** As `searchEverything`, among all that is in a compartment. @throws {OperationError} `search-unsupported` without definition. */
export async function searchWholeCompartment(service: Service, call: Call): Promise<Answer> {
  const [type, id] = [param(call, 'type'), param(call, 'id')]
  const members = await compartmentMembers(call.ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const within = (member: string): Condition => leadsTo(members.get(member) ?? [], { type, id })
  return searchSeveral(service, call, { path: `${type}/${id}/*`, types: [...members.keys()].sort(), within })
}

/** Where is searched. */
interface SeveralPlace {
  /** Below the FHIR base, for links. */
  readonly path: string
  readonly types: readonly string[]
  /** What holds for every match of a type beside the parameters. */
  readonly within?: (type: string) => Condition
}

/** The search of one of the types. */
interface TypeSearch {
  readonly parsed: ParsedSearch
  readonly query: SearchQuery
  readonly subset: Subset | undefined
}

async function searchSeveral(service: Service, call: Call, place: SeveralPlace): Promise<Answer> {
  const pairs = searchPairs(call, service)
  const cursor = pairs.find(([name]) => name === '_cursor')?.[1]
  const searches: TypeSearch[] = []
  for (const type of askedTypes(place.types, pairs)) searches.push(await searchOf(service, call, { type, pairs, place }))
  const first = searches[0]
  if (first === undefined) throw new OperationError('search-invalid', 'No type is searched.')
  const isCounted = first.parsed.countOnly || (first.parsed.total !== 'none' && !call.caller.hides)
  const total = isCounted ? await countOf(call, searches) : undefined
  const page = first.parsed.countOnly ? { items: [] } : await pageOf(call, searches, cursor)
  const subsets = new Map(searches.map(({ query, subset }) => [query.type, subset]))
  const searchset: Searchset = { ...page, total, subset: (type) => subsets.get(type) }
  return fhirText(200, bounded(searchsetText(searchset, { path: place.path, pairs, base: `${service.baseUrl}${FHIR_PATH}` }), call.ctx))
}

/** The types of `_type`, which may come several times, each time as a list. */
function askedTypes(types: readonly string[], pairs: readonly SearchPair[]): readonly string[] {
  const asked = pairs.filter(([name]) => name === '_type').map(([, value]) => value.split(','))
  const unknown = asked.flat().find((type) => !types.includes(type))
  if (unknown !== undefined)
    throw new OperationError('search-invalid', `${quoted(unknown)} is no type that is searched here.`, { expression: ['_type'] })
  return types.filter((type) => asked.every((list) => list.includes(type)))
}

interface TypePlace {
  readonly type: string
  readonly pairs: readonly SearchPair[]
  readonly place: SeveralPlace
}

async function searchOf(service: Service, call: Call, { type, pairs, place }: TypePlace): Promise<TypeSearch> {
  const options = searchOptions(service, call)
  const parsed = await parseSearch(
    type,
    pairs.filter(([name]) => name !== '_type' && name !== '_cursor'),
    options,
  )
  if (parsed.query.sort !== undefined) {
    throw new OperationError('search-unsupported', "Search parameter '_sort' is not supported for several types.", {
      expression: ['_sort'],
    })
  }
  authorizeSearch(call, parsed)
  const reached = inReach(parsed.query, call.caller)
  const query = place.within === undefined ? reached : narrowed(reached, place.within(type))
  return { parsed, query, subset: await subsetFor(call, options, { type, parsed }) }
}

async function countOf({ ctx }: Call, searches: readonly TypeSearch[]): Promise<number> {
  const counts = await Promise.all(searches.map(({ query }) => ctx.storage.count(query)))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function pageOf(call: Call, searches: readonly TypeSearch[], cursor: string | undefined): Promise<Searchset> {
  const from = cursor === undefined ? undefined : readCursor(cursor, searches)
  const behind = searches.map(({ query }) => query).filter(({ type }) => from === undefined || type >= from.type)
  const queries = behind.map((query) => (query.type === from?.type && from.after !== undefined ? { ...query, after: from.after } : query))
  const { items, next } = await firstOf(call, queries)
  return { items: items.filter((item) => isShown(call.caller, item)), next: next && cursorAt(next) }
}

interface FirstMatches {
  readonly items: readonly StoredResource[]
  readonly next?: Position
}

async function firstOf({ ctx }: Call, queries: readonly SearchQuery[]): Promise<FirstMatches> {
  const limit = Math.min(queries[0]?.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const items: StoredResource[] = []
  for (const query of queries) {
    const left = limit - items.length
    const page = await ctx.storage.search({ ...query, limit: Math.max(1, left) })
    // A full page has only to know whether, and where, something follows.
    if (left === 0 && page.items.length > 0) return { items, next: { type: query.type } }
    items.push(...page.items)
    if (page.next !== undefined) return { items, next: { type: query.type, after: page.next } }
  }
  return { items }
}

/** Where the next page begins. */
interface Position {
  readonly type: string
  /** In the storage's words; absent for the beginning of the type. */
  readonly after?: string
}

function cursorAt({ type, after }: Position): string {
  return after === undefined ? type : `${type} ${after}`
}

function readCursor(cursor: string, searches: readonly TypeSearch[]): Position {
  const [type = '', ...after] = cursor.split(' ')
  if (!searches.some(({ query }) => query.type === type))
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return { type, ...(after.length > 0 && { after: after.join(' ') }) }
}
