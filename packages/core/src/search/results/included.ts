import { OperationError } from '../../errors/index.js'
import { allMatches, isResourceType, type IndexEntry, type SearchQuery, type Storage, type StoredResource } from '../../storage/index.js'
import type { Include } from './includes.js'

/** Where included resources come from. */
export interface IncludeScope {
  readonly storage: Pick<Storage, 'search'>
  /** What searches find a resource by, its references among it. Asked once for each resource that includes start from. */
  readonly entriesOf: (resource: StoredResource) => readonly IndexEntry[] | Promise<readonly IndexEntry[]>
  /** Resources that are not shown are not gone on from, either. */
  readonly shows: (resource: StoredResource) => boolean | Promise<boolean>
  /** Most resources beside the matches. */
  readonly limit: number
  /** Most characters of their texts together. Default: no bound. */
  readonly maxBytes?: number
  /** Called before each question to the storage; what it throws ends the work. */
  readonly check?: (() => void) | undefined
}

/**
 * The resources that a search gives beside its matches, each once, without the matches; in the order of the includes, then of types and ids.
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

/** What is included of what. */
interface Round {
  readonly includes: readonly Include[]
  readonly from: readonly StoredResource[]
  /** How many characters may still come. */
  readonly left: () => number
}

async function* reached(scope: IncludeScope, { includes, from, left }: Round): AsyncGenerator<StoredResource, void, undefined> {
  const references = await referencesIn(scope, includes, from)
  for (const include of includes) {
    const queries = include.direction === 'include' ? queriesForward(references, include) : queriesBackward(include, from)
    for (const query of queries) {
      scope.check?.()
      yield* allMatches(scope.storage, { ...query, limit: PAGE, ...(left() < Infinity && { maxBytes: left() }) })
    }
  }
}

const PAGE = 500

/** What a resource refers to, by which parameter. */
interface FoundReference {
  /** Type of the resource that refers. */
  readonly source: string
  readonly param: string
  readonly type: string
  readonly id: string
}

/** The references that any of the includes may go along. To index a resource may take long, so that it is done once for all includes together. */
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
    scope.check?.()
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
  return groups.flatMap(([type, ids]) => params.map((param) => queryBackward(source, param, { type, ids })))
}

function queryBackward(
  source: string,
  param: string,
  { type, ids }: { readonly type: string; readonly ids: readonly string[] },
): SearchQuery {
  const all = [
    { field: 'value', op: 'in', operands: ids },
    { field: 'system', op: 'eq', operand: type },
  ] as const
  return { type: source, where: { kind: 'entry', param, all }, parameters: [[param, ids.map((id) => `${type}/${id}`).join(',')]] }
}

/** In the order of types, in pieces that fit into one query each. */
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
