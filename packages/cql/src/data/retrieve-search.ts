import type { DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { isExactFilter, requirementConditions } from 'fhir-ops/internal/evaluate'
import type { SearchOptions } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import type { NarrowingDates, RetrieveRequest } from '../compile/compiler.js'
import { isInterval, isTemporal } from '../values/value.js'

/** A retrieve as a search that finds at least what it finds: by its codes and its date range, as far as these are known. */
export function conditionsOf(search: SearchOptions, model: TypeModel, request: RetrieveRequest): readonly SearchPair[] {
  const { type, narrowing = [] } = request
  return requirementConditions(search, {
    type,
    codeFilter: codeFiltersOf(model, request),
    dateFilter: [
      ...dateFilters(request),
      ...narrowing.flatMap(({ path, dates }) => (dates === undefined ? [] : [dateFilter(path, dates)])),
    ],
  })
}

/**
 * Whether that search finds nothing else: the retrieve asks for no dates and nothing that a profile fixes, and all that it and the condition of its query ask for are codes of
 * elements which search parameters look at.
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

/** Whether a search finds what has one of some codes in an element that is a single code, and nothing else. */
export function isExactElement(search: SearchOptions, model: TypeModel, type: string, filter: DataRequirementCodeFilter): boolean {
  const slots = model.type(type)?.elements.get(filter.path ?? '') ?? []
  return slots.length === 1 && slots.every((slot) => slot.type === 'code' && !slot.isCollection) && isExactFilter(search, type, filter)
}

function codeFiltersOf(model: TypeModel, request: RetrieveRequest): DataRequirementCodeFilter[] {
  const { type, narrowing = [] } = request
  return [...codeFilters(request), ...narrowing.flatMap(({ path, codes = [] }) => elementCodes(model, { type, path, codes }))]
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
