import type { DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import type { SearchOptions, SearchPair, SearchParameter } from '../../search/index.js'
import { dateInterval, escaped } from '../../search/written-values.js'
import type { RequiredData } from '../languages/index.js'

/** More codes than these are not looked up one by one: the filter is left out, and more is found than is needed. */
const MAX_CODES = 200

/** A data requirement as parameters of a search that finds at least what it asks for, as far as search parameters look at the same elements. */
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

/** An element of a resource type, and the kind of search parameter that is wanted. */
interface SearchedElement {
  readonly type: string
  readonly path: string | undefined
  readonly kind: string
}

/** A search parameter that looks at an element, rather one that looks at no other. */
function parameterOf({ parameters }: SearchOptions, { type, path, kind }: SearchedElement): SearchParameter | undefined {
  const element = `${type}.${path}`
  const looking = parameters.of(type).filter(({ type: own, expression }) => own === kind && branchesOf(expression).includes(element))
  return looking.find(({ expression }) => branchesOf(expression).length === 1) ?? looking[0]
}

/**
 * Whether a search by `requirementConditions` finds what has one of the codes in an element, and nothing else: its parameter looks at no other
 * element, and the codes are neither too many nor empty: by an empty one, a search would find all codes of its system.
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
 * What has some part in the period. `ge` and `le` would not do: by them a date that is open, or continues, is not found when it begins within the
 * last day, or ends within the first one.
 */
function datePairs(name: string | undefined, { valuePeriod: { start, end } = {} }: DataRequirementDateFilter): readonly SearchPair[] {
  if (name === undefined) return []
  const bounds = [...(start === undefined ? [] : boundOf('gt', start)), ...(end === undefined ? [] : boundOf('lt', end))]
  return bounds.map((bound) => [name, bound])
}

/** A date that is none is left to the search, which says so. Beyond the years that a search can name there is nothing to leave out. */
function boundOf(prefix: 'gt' | 'lt', date: string): readonly string[] {
  const span = dateInterval(date)
  if (span === undefined) return [`${prefix}${date}`]
  const moment = new Date(prefix === 'gt' ? span.low - 1 : span.high + 1).toISOString()
  return /^\d/.test(moment) ? [`${prefix}${moment}`] : []
}
