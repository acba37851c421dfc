import { OperationError, quoted } from '../../errors/index.js'
import { oneOf } from '../filter/conditions.js'
import { overBound, SEARCH_BOUNDS } from '../bounds.js'
import { isResourceType, allMatches, type IndexEntry, type SearchQuery, type Storage, type StoredResource } from '../../storage/index.js'
import type { SearchPair } from '../search-options.js'
import { nearParameters, type SearchParameter, type SearchParameters } from '../parameters/search-parameter.js'

/** Resources that a search returns besides its matches: targets of references (`include`), or resources that refer to the matches (`revinclude`). */
export interface Include {
  readonly direction: 'include' | 'revinclude'
  /** Type of the resources that refer. */
  readonly source: string
  /** Codes of the reference parameters. */
  readonly params: readonly string[]
  /** Type of the targets; any when absent. */
  readonly target?: string
  /** True if it also applies to included resources, until nothing new is found. */
  readonly iterate: boolean
}

/** True if a parameter is `_include` or `_revinclude`, with any modifier. */
export function isInclude(name: string): boolean {
  return DIRECTIONS.has(name.split(':', 1)[0] ?? '')
}

const DIRECTIONS: ReadonlyMap<string, Include['direction']> = new Map([
  ['_include', 'include'],
  ['_revinclude', 'revinclude'],
])

/**
 * Parses `_include` and `_revinclude` of a search for these types: `Type:parameter`, `Type:parameter:Target`, `Type:*` and, for `_include`, `*`.
 *
 * @throws {OperationError} `search-invalid` for an invalid include, and for one that could never find anything; `search-unsupported` for
 *   references by canonical; `too-costly` for more than 64 includes.
 * @see https://hl7.org/fhir/R4/search.html#revinclude
 */
export function readIncludes(types: readonly string[], pairs: readonly SearchPair[], parameters: SearchParameters): readonly Include[] {
  if (pairs.length > SEARCH_BOUNDS.includes) throw overBound(SEARCH_BOUNDS.includes, 'parameters _include and _revinclude')
  return pairs.flatMap(([name, value]) => {
    const { direction, iterate } = readName(name, value)
    if (value === '*' && (iterate || direction === 'revinclude')) throw refused(name, value, 'it must name a type')
    const values = value === '*' ? types.map((type) => `${type}:*`) : [value]
    const includes = values.flatMap((one) => includesOf(types, { ...readValue(name, one), name, direction, iterate }, parameters))
    if (includes.length === 0) throw refused(name, value, 'it cannot include anything in this search')
    return includes
  })
}

/** Returns the requested include; none if it could never find anything. */
function includesOf(types: readonly string[], asked: Asked, parameters: SearchParameters): readonly Include[] {
  const { direction, iterate, source, target } = asked
  const found = parametersFor(asked, parameters).filter((parameter) => leadsTo(parameter, target))
  if (found.length === 0 || (!iterate && !types.some((type) => isAbout(type, asked, found)))) return []
  return [{ direction, source, params: found.map(({ code }) => code), iterate, ...(target !== undefined && { target }) }]
}

function readName(name: string, value: string): Pick<Include, 'direction' | 'iterate'> {
  const [head = '', modifier, ...more] = name.split(':')
  if (more.length > 0 || (modifier ?? 'iterate') !== 'iterate') throw refused(name, value, 'its only modifier is iterate')
  return { direction: DIRECTIONS.get(head) ?? 'include', iterate: modifier === 'iterate' }
}

function readValue(name: string, value: string): AskedValue {
  const [source = '', code = '', target, ...more] = value.split(':')
  const isType = isResourceType(source) && (target === undefined || isResourceType(target))
  if (!isType || code === '' || more.length > 0) throw refused(name, value, 'it is not of the form Type:parameter')
  return { value, source, code, target }
}

interface AskedValue {
  readonly value: string
  readonly source: string
  readonly code: string
  readonly target: string | undefined
}

interface Asked extends AskedValue, Pick<Include, 'direction' | 'iterate'> {
  readonly name: string
}

function parametersFor({ name, value, source, code }: Asked, parameters: SearchParameters): readonly SearchParameter[] {
  if (code === '*') return parameters.of(source).filter(({ type, canonical }) => type === 'reference' && !canonical)
  const parameter = parameters.find(source, code)
  if (parameter?.type !== 'reference') {
    const hint = nearParameters(parameters, { code, types: [source], only: ({ type, canonical }) => type === 'reference' && !canonical })
    throw refused(name, value, `${source} has no reference parameter ${quoted(code)}`, hint)
  }
  if (!parameter.canonical) return [parameter]
  throw new OperationError('search-unsupported', `Search parameter ${quoted(name)} follows ${quoted(code)}, which refers by canonical.`, {
    expression: [name],
  })
}

function leadsTo({ targets }: SearchParameter, type: string | undefined): boolean {
  return type === undefined || targets.length === 0 || targets.includes(type)
}

/** True if an include starts, or a revinclude ends, at the searched type. */
function isAbout(type: string, { direction, source, target }: Asked, found: readonly SearchParameter[]): boolean {
  if (direction === 'include') return source === type
  return (target ?? type) === type && found.some((parameter) => leadsTo(parameter, type))
}

function refused(name: string, value: string, problem: string, hint = ''): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(name)} has the value ${quoted(value)}: ${problem}.${hint}`, {
    expression: [name],
  })
}

/** Source and limits of included resources. */
export interface IncludeScope {
  readonly storage: Pick<Storage, 'search'>
  /** Returns the index entries of a resource, with its references. Called once for each resource where includes start. */
  readonly entriesOf: (resource: StoredResource) => readonly IndexEntry[] | Promise<readonly IndexEntry[]>
  /** Returns whether a resource may be shown. Includes do not continue from resources that are not shown. */
  readonly shows: (resource: StoredResource) => boolean | Promise<boolean>
  /** Maximum number of resources besides the matches. */
  readonly limit: number
  /** Maximum number of characters of their texts together. Default: no limit. */
  readonly maxBytes?: number
  /** Called before each query and for each resource, and awaited if it lets other work run; an error that it throws ends the work. */
  readonly step?: (() => Promise<void> | undefined) | undefined
}

/**
 * Finds the resources that a search returns besides its matches, each once, in the order of the includes, then by type and id.
 *
 * @throws {OperationError} `too-costly` when there are more than `limit`, or they are longer than `maxBytes`.
 */
export async function includedResources(
  scope: IncludeScope,
  matches: readonly StoredResource[],
  includes: readonly Include[],
): Promise<readonly StoredResource[]> {
  const seen = new Set(matches.map(addressOf))
  const included: StoredResource[] = []
  let round = includes
  let from = matches
  let left = scope.maxBytes ?? Infinity
  while (from.length > 0 && round.length > 0) {
    const fresh: StoredResource[] = []
    for await (const resource of reached(scope, { includes: round, from, left: () => left })) {
      const wait = scope.step?.()
      if (wait !== undefined) await wait
      if (seen.has(addressOf(resource)) || !(await scope.shows(resource))) continue
      seen.add(addressOf(resource))
      fresh.push(resource)
      left -= resource.text.length
      if (left < 0) throw tooLong()
      if (included.length + fresh.length > scope.limit) throw tooMany(scope.limit)
    }
    included.push(...fresh)
    round = includes.filter(({ iterate }) => iterate)
    from = fresh
  }
  return included
}

function addressOf({ type, id }: Pick<StoredResource, 'type' | 'id'>): string {
  return `${type}/${id}`
}

function tooMany(limit: number): OperationError {
  return new OperationError('too-costly', `More than ${limit} resources are to be included; ask for fewer matches with _count.`)
}

function tooLong(): OperationError {
  return new OperationError(
    'too-costly',
    'The resources to be included are longer than an answer may be; ask for fewer matches with _count.',
  )
}

/** One round of includes. */
interface Round {
  readonly includes: readonly Include[]
  readonly from: readonly StoredResource[]
  /** Returns the number of characters that are still allowed. */
  readonly left: () => number
}

async function* reached(scope: IncludeScope, { includes, from, left }: Round): AsyncGenerator<StoredResource, void, undefined> {
  const references = await referencesIn(scope, includes, from)
  for (const include of includes) {
    const queries = include.direction === 'include' ? queriesForward(references, include) : queriesBackward(include, from)
    for (const query of queries) {
      await scope.step?.()
      yield* allMatches(scope.storage, { ...query, limit: PAGE, ...(left() < Infinity && { maxBytes: left() }) })
    }
  }
}

const PAGE = 500

/** A reference of a resource, with its parameter. */
interface FoundReference {
  /** Type of the resource that refers. */
  readonly source: string
  readonly param: string
  readonly type: string
  readonly id: string
}

/** Finds the references that any of the includes may follow. Indexing a resource may take long, so it is done once for all includes. */
async function referencesIn(
  scope: IncludeScope,
  includes: readonly Include[],
  from: readonly StoredResource[],
): Promise<readonly FoundReference[]> {
  const forward = includes.filter(({ direction }) => direction === 'include')
  const sources = new Set(forward.map(({ source }) => source))
  const params = new Set(forward.flatMap((include) => include.params))
  const found: FoundReference[] = []
  for (const resource of from.filter(({ type }) => sources.has(type))) {
    const wait = scope.step?.()
    if (wait !== undefined) await wait
    for (const { param, system, value } of await scope.entriesOf(resource)) {
      if (!params.has(param) || system === undefined || !isResourceType(system) || value === undefined) continue
      found.push({ source: resource.type, param, type: system, id: value })
    }
  }
  return found
}

function queriesForward(references: readonly FoundReference[], include: Include): readonly SearchQuery[] {
  const asked = references.filter(({ source, param, type }) => {
    return source === include.source && include.params.includes(param) && (include.target ?? type) === type
  })
  return idsByType(asked).map(([type, ids]) => ({ type, where: { kind: 'id', ids }, parameters: [['_id', ids.join(',')]] }))
}

function queriesBackward({ source, params, target }: Include, from: readonly StoredResource[]): readonly SearchQuery[] {
  const groups = idsByType(from.filter(({ type }) => target === undefined || type === target))
  return groups.flatMap(([type, ids]) => {
    const references = ids.map((id) => `${type}/${id}`).join(',')
    return params.map((param) => ({ type: source, where: oneOf(param, type, ids), parameters: [[param, references]] as const }))
  })
}

/** Groups ids by type, in the order of types, in pieces that each fit into one query. */
function idsByType(
  references: readonly Pick<StoredResource, 'type' | 'id'>[],
): readonly (readonly [type: string, ids: readonly string[]])[] {
  const byType = Map.groupBy(
    references.toSorted((a, b) => (a.type < b.type ? -1 : Number(a.type > b.type))),
    ({ type }) => type,
  )
  return [...byType].flatMap(([type, items]) => {
    const ids = [...new Set(items.map(({ id }) => id))]
    return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, index) => [type, ids.slice(index * PAGE, (index + 1) * PAGE)] as const)
  })
}
