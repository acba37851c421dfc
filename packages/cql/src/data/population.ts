import type { DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { requirementConditions } from 'fhir-ops/internal/evaluate'
import { parseSearch, type SearchOptions, type SearchPair } from 'fhir-ops/search'
import { scanResources, type Referring, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { NarrowingDates, RetrieveRequest } from '../compile/compiler.js'
import { resourceElement } from '../model/fhir-types.js'
import { isInterval, isTemporal, type FhirElement } from '../values/value.js'
import { storedRecords, subjectParameter, type Records } from './records.js'
import type { RetrieverOptions } from './retrieve.js'

/** Who a population consists of, and what is retrieved of everybody. */
export interface Population {
  readonly type: string
  /** Parameters of the search for the subjects. */
  readonly conditions: readonly (readonly [name: string, value: string])[]
  readonly requests: readonly RetrieveRequest[]
  /** Only these of them, by id. */
  readonly ids: ReadonlySet<string> | 'all'
}

/** One subject with its records. */
export interface SubjectRecords {
  readonly id: string
  readonly subject: FhirElement
  readonly records: Records
}

/**
 * Goes through a population, in the order of the storage: subjects come in pages, with all that retrieves may find of them, as far as
 * codes and date ranges of retrieves are known.
 *
 * @throws {OperationError} what `ctx.authorize` throws for a type that the caller may not search; what the storage throws.
 */
export async function* populationRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
  { type, conditions, requests, ids }: Population,
): AsyncGenerator<SubjectRecords, void, undefined> {
  const { search } = ctx
  if (search === undefined) throw new OperationError('not-supported', 'Subjects are found by search parameters, which are not loaded.')
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, conditions, search)
  const referring = await retrievePlans(ctx, search, { model: options.model, type, requests })
  const recordsOf = storedRecords(ctx, options)
  for (const part of partsOf(query, ids))
    for await (const { stored, referring: found } of scanResources(ctx.storage, { ...part, referring })) {
      const subject = resourceElement(options.model, stored.resource)
      if (subject === undefined) continue
      const read = readResources(referring, found, options).set(type, () => [subject])
      yield { id: stored.id, subject, records: recordsOf(subject, read) }
    }
}

/** How many ids a query names. */
const IDS_AT_ONCE = 500

/** The queries that find all of the subjects together. */
function partsOf({ type, where, parameters }: SearchQuery, ids: ReadonlySet<string> | 'all'): readonly SearchQuery[] {
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
 * How many subjects a population has.
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

/** For each type that is retrieved, what of it refers to a subject and may be found by a retrieve. */
async function retrievePlans(
  ctx: OperationContext,
  search: SearchOptions,
  { model, type: subjectType, requests }: Pick<Population, 'type' | 'requests'> & Pick<RetrieverOptions, 'model'>,
): Promise<readonly Referring[]> {
  const own = requests.filter(({ type, unfiltered, context }) => !unfiltered && context === undefined && type !== subjectType)
  const plans: Referring[] = []
  for (const [type, all] of Map.groupBy(own, (request) => request.type)) {
    const parameter = type === 'Patient' ? undefined : subjectParameter(search, type, subjectType)
    if (parameter === undefined) continue
    ctx.authorize?.('search', type)
    const parts = new Map<string, SearchQuery>()
    for (const request of all) {
      const conditions = conditionsOf(search, model, request)
      const key = JSON.stringify(conditions)
      if (!parts.has(key)) parts.set(key, (await parseSearch(type, conditions, search)).query)
    }
    plans.push({ ...union(type, [...parts.values()]), params: [parameter] })
  }
  return plans
}

/** What is found by any of some searches. */
function union(type: string, queries: readonly SearchQuery[]): SearchQuery {
  const [only] = queries
  return queries.length === 1 && only !== undefined
    ? only
    : { type, where: { kind: 'or', conditions: queries.map(({ where }) => where) }, parameters: [] }
}

/** A retrieve as a search that finds at least what it finds: by its codes and its date range, as far as these are known. */
function conditionsOf(search: SearchOptions, model: TypeModel, request: RetrieveRequest): readonly SearchPair[] {
  const { type, narrowing = [] } = request
  return requirementConditions(search, {
    type,
    codeFilter: [...codeFilters(request), ...narrowing.flatMap(({ path, codes = [] }) => elementCodes(model, { type, path, codes }))],
    dateFilter: [
      ...dateFilters(request),
      ...narrowing.flatMap(({ path, dates }) => (dates === undefined ? [] : [dateFilter(path, dates)])),
    ],
  })
}

/** Of elements that are codes, which are found as they are written. */
function elementCodes(
  model: TypeModel,
  { type, path, codes }: { readonly type: string; readonly path: string; readonly codes: readonly string[] },
): DataRequirementCodeFilter[] {
  const slots = model.type(type)?.elements.get(path) ?? []
  const isCode = slots.length > 0 && slots.every((slot) => slot.type === 'code')
  return isCode && codes.length > 0 ? [{ path, code: codes.map((code) => ({ code })) }] : []
}

function codeFilters({ codePath: path, listedCodes }: RetrieveRequest): DataRequirementCodeFilter[] {
  const codes = path === undefined ? [] : (listedCodes?.() ?? [])
  const code = codes.flatMap(({ system, code: own }) => (system === null || own === null ? [] : { system, code: own }))
  return path === undefined || code.length < codes.length ? [] : [{ path, code }]
}

const MARGIN_MS = 86_400_000

/** By days, and one more at both ends: times may have no offset, and days are compared as they are written. */
function dateFilters({ datePath: path, listedRange }: RetrieveRequest): DataRequirementDateFilter[] {
  if (path === undefined || listedRange === undefined || !isInterval(listedRange)) return []
  const { low, high } = listedRange
  return [dateFilter(path, { ...(isTemporal(low) && { from: low.low }), ...(isTemporal(high) && { to: high.high }) })]
}

function dateFilter(path: string, { from, to }: NarrowingDates): DataRequirementDateFilter {
  const start = from === undefined ? undefined : dayOf(from - MARGIN_MS)
  const end = to === undefined ? undefined : dayOf(to + MARGIN_MS)
  return { path, valuePeriod: { ...(start !== undefined && { start }), ...(end !== undefined && { end }) } }
}

/** Four digits are all that a search takes for a year. */
function dayOf(moment: number): string {
  const text = new Date(Math.min(Math.max(moment, FIRST_DAY), LAST_DAY)).toISOString()
  return text.slice(0, 10)
}

const FIRST_DAY = Date.UTC(1583, 0, 1)
const LAST_DAY = Date.UTC(9999, 11, 31)

/** What was read of one subject, by type; texts become elements when a retrieve asks for the type. */
function readResources(
  plans: readonly Referring[],
  found: readonly StoredResource[],
  { model }: RetrieverOptions,
): Map<string, () => readonly FhirElement[]> {
  const byType = Map.groupBy(found, ({ type }) => type)
  return new Map(
    plans.map(({ type }) => {
      const elements = (): readonly FhirElement[] =>
        (byType.get(type) ?? []).flatMap(({ resource }) => resourceElement(model, resource) ?? [])
      return [type, elements]
    }),
  )
}
