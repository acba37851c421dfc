import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import type { Scope } from 'fhir-ops/evaluate'
import { isInPart, subjectConditions, type SubjectsPart } from 'fhir-ops/internal/evaluate'
import { parseSearch, type SearchOptions } from 'fhir-ops/search'
import { scanResources, type Condition, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import { scanPages, type Referring, type ScanItem } from 'fhir-ops/internal/storage'
import type { RetrieveRequest } from '../compile/compiler.js'
import { resourceElement } from '../model/fhir-types.js'
import type { FhirElement } from '../values/value.js'
import { storedRecords, type FindRead, type Records } from './records.js'
import { conditionsOf, selected, type RetrieverOptions } from './retrieve.js'

/** The subjects of a population, and the retrieves for all of them. */
export interface Population {
  readonly type: string
  /** Parameters of the search for the subjects. */
  readonly conditions: readonly (readonly [name: string, value: string])[]
  readonly requests: readonly RetrieveRequest[]
  /** Only the subjects with these ids. */
  readonly ids: ReadonlySet<string> | 'all'
  /** Only subjects that also meet this condition. */
  readonly among?: Condition | undefined
}

/** The search for the subjects of an evaluation. */
export function populationOf(scope: Scope): Pick<Population, 'conditions' | 'type'> {
  return { type: scope.subjectType, conditions: subjectConditions(scope) }
}

/** One subject with its records. */
export interface SubjectRecords {
  readonly id: string
  readonly subject: FhirElement
  readonly records: Records
}

/**
 * Yields the subjects of a population in the order of the storage. They are read in pages, with all resources that retrieves may find, as far as
 * codes and date ranges of retrieves are known.
 *
 * @throws {OperationError} errors of `ctx.authorize` for a type that the caller may not search, and of the storage.
 */
export async function* populationRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
  { type, conditions, requests, ids, among }: Population,
): AsyncGenerator<Iterable<SubjectRecords>, void, undefined> {
  const { search, query } = await searchFor(ctx, { type, conditions, among })
  const referring = (await retrievePlans(ctx, search, { ...options, type, requests })).map(referringOf)
  const types = new Set(referring.map((one) => one.type))
  const recordsOf = storedRecords(ctx, options)
  const recordsIn = function* (items: readonly ScanItem[]): Generator<SubjectRecords, void, undefined> {
    for (const { stored, referring: found } of items) {
      const subject = resourceElement(options.model, stored.resource)
      if (subject !== undefined) yield { id: stored.id, subject, records: recordsOf(subject, findIn({ subject, found, types }, options)) }
    }
  }
  for (const part of partsOf(query, ids)) for await (const items of scanPages(ctx.storage, { ...part, referring })) yield recordsIn(items)
}

/** The search for the subjects. */
export async function searchFor(
  ctx: OperationContext,
  { type, conditions, among }: Pick<Population, 'among' | 'conditions' | 'type'>,
): Promise<{ readonly search: SearchOptions; readonly query: SearchQuery }> {
  const { search } = ctx
  if (search === undefined) throw new OperationError('not-supported', 'Subjects are found by search parameters, which are not loaded.')
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, conditions, search)
  return { search, query: among === undefined ? query : narrowed(query, among) }
}

const NAMED_AT_ONCE = 2_000

/**
 * The ids of the subjects in a part; nothing else of them is read.
 *
 * @throws {OperationError} as `populationRecords`.
 */
export async function idsInPart(
  ctx: OperationContext,
  population: Pick<Population, 'among' | 'conditions' | 'type'>,
  part: SubjectsPart,
): Promise<ReadonlySet<string>> {
  const { query } = await searchFor(ctx, population)
  const pace = createPace(ctx)
  const ids = new Set<string>()
  for await (const { stored } of scanResources(ctx.storage, { ...query, limit: NAMED_AT_ONCE })) {
    pace.check()
    const turn = pace.step()
    if (turn !== undefined) await turn
    if (isInPart(stored.id, part)) ids.add(stored.id)
  }
  return ids
}

/** The query for those subjects that also meet a condition. */
export function narrowed({ type, where }: SearchQuery, among: Condition): SearchQuery {
  return { type, where: { kind: 'and', conditions: [where, among] } }
}

/** Maximum number of ids in a query. */
const IDS_AT_ONCE = 500

/** The queries that together find all subjects. */
export function partsOf({ type, where, parameters }: SearchQuery, ids: ReadonlySet<string> | 'all'): readonly SearchQuery[] {
  if (ids === 'all') return [{ type, where, ...(parameters !== undefined && { parameters }) }]
  const sorted = [...ids].toSorted()
  return Array.from({ length: Math.ceil(sorted.length / IDS_AT_ONCE) }, (_, part) => {
    const some = sorted.slice(part * IDS_AT_ONCE, (part + 1) * IDS_AT_ONCE)
    return {
      type,
      where: { kind: 'and', conditions: [{ kind: 'id', ids: some }, where] },
      ...(parameters !== undefined && { parameters: [...parameters, ['_id', some.join(',')]] }),
    }
  })
}

/**
 * Counts the subjects of a population.
 *
 * @throws {OperationError} as `populationRecords`.
 */
export async function populationSize(
  ctx: OperationContext,
  { type, conditions }: Pick<Population, 'conditions' | 'type'>,
): Promise<number> {
  if (ctx.search === undefined) return 0
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, conditions, ctx.search)
  return await ctx.storage.count(query)
}

/** The resources of a type that refer to a subject and may be found by retrieves. */
export interface TypePlan {
  readonly type: string
  /** Search parameters that refer to a subject. */
  readonly params: readonly string[]
  /** A search for each retrieve, by its conditions as JSON. */
  readonly searches: ReadonlyMap<string, SearchQuery>
}

/** The plan of each retrieved type. */
export async function retrievePlans(
  ctx: OperationContext,
  search: SearchOptions,
  { model, links, type: subjectType, requests }: Pick<Population, 'type' | 'requests'> & Pick<RetrieverOptions, 'links' | 'model'>,
): Promise<readonly TypePlan[]> {
  const own = requests.filter(({ type, unfiltered, context }) => !unfiltered && context === undefined && type !== subjectType)
  const plans: TypePlan[] = []
  for (const [type, all] of Map.groupBy(own, (request) => request.type)) {
    const params = links.paramsOf(type)
    if (params.length === 0) continue
    ctx.authorize?.('search', type)
    const searches = new Map<string, SearchQuery>()
    for (const request of all) {
      const conditions = conditionsOf(search, model, request)
      const key = JSON.stringify(conditions)
      if (!searches.has(key)) searches.set(key, (await parseSearch(type, conditions, search)).query)
    }
    plans.push({ type, params, searches })
  }
  return plans
}

/** The resources that any of the searches finds. */
export function referringOf({ type, params, searches }: TypePlan): Referring {
  const queries = [...searches.values()]
  const [only] = queries
  const found =
    queries.length === 1 && only !== undefined
      ? only
      : { type, where: { kind: 'or' as const, conditions: queries.map(({ where }) => where) }, parameters: [] }
  return { ...found, params }
}

/** The resources that were read for one subject. */
interface Read {
  readonly subject: FhirElement
  readonly found: readonly StoredResource[]
  /** The types of which all resources were read. */
  readonly types: ReadonlySet<string>
}

/** Finds resources among those that were read. Texts become elements when a retrieve requests their type. */
function findIn({ subject, found, types }: Read, options: RetrieverOptions): FindRead {
  const known = new Map<string, readonly FhirElement[]>([[subject.type.name, [subject]]])
  return (request) => {
    const { type } = request
    const before = known.get(type)
    if (before !== undefined) return selected(before, request, options)
    if (!types.has(type)) return undefined
    const elements: FhirElement[] = []
    for (const one of found) {
      const element = one.type === type ? resourceElement(options.model, one.resource) : undefined
      if (element !== undefined) elements.push(element)
    }
    known.set(type, elements)
    return selected(elements, request, options)
  }
}
