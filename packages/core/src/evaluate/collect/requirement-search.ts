import type { DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import type { SearchOptions, SearchPair, SearchParameter } from '../../search/index.js'
import { dateInterval, escaped } from '../../search/written-values.js'
import type { RequiredData } from '../languages/index.js'

/** Maximum number of codes that are looked up one by one. With more, the filter is left out, and more is found than is needed. */
const MAX_CODES = 200

/** The parameters of a search that finds at least what a data requirement asks for, as far as search parameters apply to the same elements. */
export function requirementConditions(
  { parameters }: SearchOptions,
  { type, codeFilter = [], dateFilter = [] }: RequiredData,
): readonly SearchPair[] {
  const codeOf = ({ searchParam, path }: DataRequirementCodeFilter | DataRequirementDateFilter, kind: string): string | undefined =>
    searchParam ?? parameterOf({ parameters }, { type, path, kind })?.code
  return [
    ...codeFilter.flatMap((filter) => codePairs(codeOf(filter, 'token'), filter)),
    ...dateFilter.flatMap((filter) => datePairs(codeOf(filter, 'date'), filter)),
  ]
}

/** An element of a resource type, and the kind of search parameter to find for it. */
interface SearchedElement {
  readonly type: string
  readonly path: string | undefined
  readonly kind: string
}

/** A search parameter for an element, preferably one that applies to no other element. */
function parameterOf({ parameters }: SearchOptions, { type, path, kind }: SearchedElement): SearchParameter | undefined {
  const element = `${type}.${path}`
  const looking = parameters.of(type).filter(({ type: own, expression }) => own === kind && branchesOf(expression).includes(element))
  return looking.find(({ expression }) => branchesOf(expression).length === 1) ?? looking[0]
}

/**
 * Whether a search by `requirementConditions` finds exactly the resources with one of the codes in an element: its parameter applies to no other element,
 * and the codes are neither too many nor empty, because an empty code would find all codes of its system.
 */
export function isExactFilter(search: SearchOptions, type: string, filter: DataRequirementCodeFilter): boolean {
  const parameter = parameterOf(search, { type, path: filter.path, kind: 'token' })
  const isOnly = parameter !== undefined && branchesOf(parameter.expression).length === 1
  const areCodes = filter.code?.every(({ code = '' }) => code !== '') ?? true
  return isOnly && areCodes && requirementConditions(search, { type, codeFilter: [filter] }).length === 1
}

function branchesOf(expression: string): readonly string[] {
  return expression.split('|').map((branch) => branch.trim())
}

function codePairs(name: string | undefined, { code = [], valueSet }: DataRequirementCodeFilter): readonly SearchPair[] {
  if (name === undefined) return []
  if (valueSet !== undefined) return [[`${name}:in`, valueSet]]
  const texts = code.map((coding) =>
    coding.system === undefined ? escaped(coding.code ?? '') : `${escaped(coding.system)}|${escaped(coding.code ?? '')}`,
  )
  const tokens = [...new Set(texts)]
  return tokens.length === 0 || tokens.length > MAX_CODES ? [] : [[name, tokens.join(',')]]
}

/**
 * Conditions for dates that overlap the period. `ge` and `le` would not do: with them, a date that is open or continues is not found when it begins within
 * the last day, or ends within the first one.
 */
function datePairs(name: string | undefined, { valuePeriod: { start, end } = {} }: DataRequirementDateFilter): readonly SearchPair[] {
  if (name === undefined) return []
  const bounds = [...(start === undefined ? [] : boundOf('gt', start)), ...(end === undefined ? [] : boundOf('lt', end))]
  return bounds.map((bound) => [name, bound])
}

/**
 * The condition for one bound. An invalid date is left to the search, which reports it. A bound outside of the years that a search can express excludes
 * nothing, so it is left out.
 */
function boundOf(prefix: 'gt' | 'lt', date: string): readonly string[] {
  const span = dateInterval(date)
  if (span === undefined) return [`${prefix}${date}`]
  const moment = new Date(prefix === 'gt' ? span.low - 1 : span.high + 1).toISOString()
  return /^\d/.test(moment) ? [`${prefix}${moment}`] : []
}
