import type { TypeModel } from 'fhir-ops/fhirpath'
import { isExactFilter, requirementConditions, type SubjectLinks } from 'fhir-ops/internal/evaluate'
import type { DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import type { SearchOptions } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import type { CodeTest, RetrieveRequest, NarrowingDates } from '../compile/compiler.js'
import { FHIR_HELPERS } from '../model/fhir-helpers.js'
import { memberOf, propertyOf, systemValueOf } from '../model/property.js'
import { includes, pointIn, pointOrder } from '../values/interval.js'
import type { UnitConversion } from '../values/units.js'
import { isFhir, isInterval, isTemporal, type FhirElement, type Value } from '../values/value.js'

/** Options for finding resources. */
export interface RetrieverOptions {
  readonly model: TypeModel
  readonly convert: UnitConversion
  /** Offset in minutes for times without one. */
  readonly offset: number
  /** How resources belong to the subject of the evaluation. */
  readonly links: SubjectLinks
}

/** Selects the resources of a retrieve from those of its type: by profile, codes and date range. */
export function selected(resources: readonly FhirElement[], request: RetrieveRequest, options: RetrieverOptions): readonly FhirElement[] {
  const { codePath, codes, datePath, dateRange, ofProfile } = request
  if (codes === undefined && dateRange === null && ofProfile === undefined) return resources
  return resources.filter(
    (resource) =>
      ofProfile?.missing(resource) === undefined &&
      (codes === undefined || hasCode(resource, codePath ?? 'code', codes)) &&
      (dateRange === null || isDuring(resource, datePath, dateRange, options)),
  )
}

/** Whether a resource has one of the codes. Reads the JSON without creating elements, because most resources do not match. */
function hasCode({ type, json }: FhirElement, path: string, test: CodeTest): boolean {
  const slots = path.includes('.') ? undefined : type.elements.get(path)
  return slots?.some((slot) => isCoded(memberOf(json, slot.jsonName), slot.type, test)) === true
}

function isCoded(json: unknown, type: string, test: CodeTest): boolean {
  if (json === undefined || json === null) return false
  if (Array.isArray(json)) return json.some((item) => isCoded(item, type, test))
  if (type === 'CodeableConcept') return isCoded(memberOf(json, 'coding'), 'Coding', test)
  if (typeof json === 'string') return test(undefined, json)
  const [code, system] = [memberOf(json, 'code'), memberOf(json, 'system')]
  // A coding without a system belongs to no known system. The search for a population, by system and code, does not find it either.
  return typeof code === 'string' && test(typeof system === 'string' ? system : '', code)
}

/** Whether the date or period of a resource is known to be within the range. */
function isDuring(resource: FhirElement, datePath: string | undefined, range: Value, options: RetrieverOptions): boolean {
  if (datePath === undefined || !isInterval(range)) return false
  const { model, offset, convert } = options
  const element = datePath.split('.').reduce<Value>((value, name) => propertyOf(value, name, model, offset), resource)
  const by = pointOrder(convert, undefined, offset)
  if (isTemporal(element)) return pointIn(element, range, by) === true
  if (!isFhir(element)) return false
  const point = systemValueOf(element, offset)
  if (point !== undefined) return pointIn(point, range, by) === true
  const period = FHIR_HELPERS['ToInterval']?.(element, { model, offset }) ?? null
  return isInterval(period) && includes(range, period, by) === true
}

/** The conditions of a search that finds at least the resources of a retrieve, from its codes and date range as far as these are known. */
export function conditionsOf(search: SearchOptions, model: TypeModel, request: RetrieveRequest): readonly SearchPair[] {
  const { type, narrowing = [] } = request
  return requirementConditions(search, {
    type,
    codeFilter: codeFiltersOf(model, request),
    dateFilter: [...dateFilters(request), ...narrowing.flatMap(({ path, dates }) => (dates === undefined ? [] : dateFilter(path, dates)))],
  })
}

/**
 * Whether that search finds exactly the resources of the retrieve: it has no conditions on dates and no values fixed by a profile, and its other conditions,
 * with those of its query, are all on codes of elements that have search parameters.
 *
 * @param conjuncts How many conditions the query has, all of which must hold.
 */
export function isExactSearch(search: SearchOptions, model: TypeModel, request: RetrieveRequest, conjuncts: number): boolean {
  const filters = codeFiltersOf(model, request)
  const { type, codePath, datePath, narrowing = [], ofProfile } = request
  if (datePath !== undefined || (ofProfile?.asked().length ?? 0) > 0 || filters.length !== conjuncts + (codePath === undefined ? 0 : 1))
    return false
  const slots = codePath === undefined ? [] : model.type(type)?.elements.get(codePath)
  const isCoded = slots?.every((slot) => slot.type === 'CodeableConcept' || slot.type === 'Coding') === true
  const coded = codePath === undefined ? [] : filters.slice(0, 1)
  return (
    isCoded &&
    narrowing.length === conjuncts &&
    coded.every((filter) => isExactFilter(search, type, filter)) &&
    filters.slice(coded.length).every((filter) => isExactElement(search, model, type, filter))
  )
}

/** Whether a search finds exactly the resources with one of some codes in an element that is a single code. */
export function isExactElement(search: SearchOptions, model: TypeModel, type: string, filter: DataRequirementCodeFilter): boolean {
  const slots = model.type(type)?.elements.get(filter.path ?? '') ?? []
  return slots.length === 1 && slots.every((slot) => slot.type === 'code' && !slot.isCollection) && isExactFilter(search, type, filter)
}

function codeFiltersOf(model: TypeModel, request: RetrieveRequest): DataRequirementCodeFilter[] {
  const { type, narrowing = [] } = request
  return [...codeFilters(request), ...narrowing.flatMap(({ path, codes = [] }) => elementCodes(model, { type, path, codes }))]
}

/** Filters on elements of the type code, which are compared as written. */
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

/** Days are compared as written, so moments of one day may be 50 hours apart: a day, and offsets from -12 to +14 hours. */
const MARGIN_MS = 3 * 86_400_000

/** Date filters by days, with a margin at both ends. */
function dateFilters({ datePath: path, listedRange }: RetrieveRequest): DataRequirementDateFilter[] {
  if (path === undefined || listedRange === undefined || !isInterval(listedRange)) return []
  const { low, high } = listedRange
  return dateFilter(path, { ...(isTemporal(low) && { from: low.low }), ...(isTemporal(high) && { to: high.high }) })
}

/** Empty if all dates of which a search can be asked are within the limits. */
function dateFilter(path: string, { from = -Infinity, to = Infinity }: NarrowingDates): DataRequirementDateFilter[] {
  const [start, end] = [from - MARGIN_MS, to + MARGIN_MS]
  const valuePeriod = { ...(start > FIRST_DAY && { start: dayOf(start) }), ...(end < LAST_DAY && { end: dayOf(end) }) }
  return Object.keys(valuePeriod).length === 0 ? [] : [{ path, valuePeriod }]
}

/** The day of a moment, limited to years of four digits, which is all that a search accepts. */
function dayOf(moment: number): string {
  return new Date(Math.min(Math.max(moment, FIRST_DAY), LAST_DAY)).toISOString().slice(0, 10)
}

const FIRST_DAY = Date.UTC(1583, 0, 1)
const LAST_DAY = Date.UTC(9999, 11, 31)
