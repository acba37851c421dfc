import type { Coding, DataRequirementCodeFilter, DataRequirementDateFilter, Period } from 'fhir/r4.js'
import type { OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { parseSearch, searchTypesOf, type SearchOptions } from '../../../search/index.js'
import { splitUnescaped, unescaped } from '../../../search/written-values.js'
import type { Criterion } from '../../measure-plan.js'
import type { RequiredData, RequirementScope, Requirements } from '../language.js'
import { subjectLinks } from '../../subject.js'
import { namesSubject, searchOptions, subjectVariables, withPlace, parseExpression } from './criterion-query.js'
import { withoutOwnSubject } from './per-subject.js'

/**
 * The data that queries use: their types, with filters for their conditions on codes and dates. Other conditions become no filters, so that data
 * which satisfies the requirements is always sufficient.
 *
 * @throws {OperationError} 422 for a criterion that is not a valid search, naming group and population.
 */
export async function queryRequirements(ctx: OperationContext, scope: RequirementScope): Promise<Requirements> {
  const data: RequiredData[] = []
  for (const { populations, stratifiers } of scope.groups)
    for (const criterion of [...populations, ...stratifiers.flatMap(({ criteria }) => criteria)])
      if (criterion.language !== 'text/fhirpath') data.push(...(await ofCriterion(ctx, criterion, scope)))
  return { data, parameters: [], dependsOn: [] }
}

async function ofCriterion(ctx: OperationContext, criterion: Criterion, scope: RequirementScope): Promise<readonly RequiredData[]> {
  const options = searchOptions(ctx)
  const links = await subjectLinks(ctx, scope.subjectType)
  if (scope.bySubject === true && namesSubject(withoutOwnSubject(links, { ...criterion, basis: 'boolean' })))
    throw new OperationError(
      'not-supported',
      `${criterion.place} finds what refers to a subject otherwise than as its own; such data cannot be collected for some subjects only.`,
      { expression: [`${criterion.path}.criteria.expression`] },
    )
  return withPlace(criterion, async () => {
    const { type, parameters } = parseExpression(criterion.expression, variablesOf(scope))
    const { query } = await parseSearch(type, parameters, options)
    const others = [...searchTypesOf(query), ...(criterion.basis === 'boolean' ? [scope.subjectType] : [])].filter((one) => one !== type)
    const stated = parameters.filter(([, value]) => !value.includes(ID_PLACEHOLDER))
    return [filtered(options, type, stated), ...[...new Set(others)].map((other) => ({ type: other }))]
  })
}

/** Stands for the id of any subject; conditions with it become no filters. */
const ID_PLACEHOLDER = '-.any-subject.-'

function variablesOf({ period, subjectType }: RequirementScope): ReadonlyMap<string, string> {
  return new Map([
    ['periodStart', period.start],
    ['periodEnd', period.end],
    ['measurementPeriod.start', period.start],
    ['measurementPeriod.end', period.end],
    ...subjectVariables(subjectType).map((name) => [name, ID_PLACEHOLDER] as const),
  ])
}

type Pairs = readonly (readonly [name: string, value: string])[]

function filtered({ parameters: known }: SearchOptions, type: string, parameters: Pairs): RequiredData {
  const codeFilter = parameters.flatMap(([name, value]) => {
    const [code = '', modifier, ...more] = name.split(':')
    return known.find(type, code)?.type === 'token' && more.length === 0 ? codesAsked(code, modifier, value) : []
  })
  const dates = parameters.filter(([name]) => known.find(type, name)?.type === 'date')
  const dateFilter = [...Map.groupBy(dates, ([name]) => name)].flatMap(([name, pairs]) =>
    periodAsked(
      name,
      pairs.map(([, value]) => value),
    ),
  )
  return { type, ...(codeFilter.length > 0 && { codeFilter }), ...(dateFilter.length > 0 && { dateFilter }) }
}

/** A token parameter as a filter; none for modifiers that exclude codes or extend their meaning. */
function codesAsked(searchParam: string, modifier: string | undefined, value: string): readonly DataRequirementCodeFilter[] {
  if (modifier === 'in') return [{ searchParam, valueSet: value }]
  return modifier === undefined ? [{ searchParam, code: splitUnescaped(value, ',').map(codingOf) }] : []
}

function codingOf(token: string): Coding {
  const parts = splitUnescaped(token, '|').map(unescaped)
  const [system, code] = parts.length > 1 ? parts : ['', parts[0]]
  return { ...(system !== undefined && system !== '' && { system }), ...(code !== undefined && code !== '' && { code }) }
}

const DATE = /^(eq|ge|gt|le|lt)?(\d{4}.*)$/

/** The values of a date parameter, all of which must hold, as a period; none when one of them is not a bound. */
function periodAsked(searchParam: string, values: readonly string[]): readonly DataRequirementDateFilter[] {
  const period: Period = {}
  for (const value of values) {
    const [, prefix = 'eq', date] = (value.includes(',') ? null : DATE.exec(value)) ?? []
    if (date === undefined) return []
    if (prefix !== 'le' && prefix !== 'lt') period.start = later(period.start, date)
    if (prefix !== 'ge' && prefix !== 'gt') period.end = earlier(period.end, date)
  }
  return [{ searchParam, valuePeriod: period }]
}

function later(one: string | undefined, other: string): string {
  return one === undefined || other > one ? other : one
}

function earlier(one: string | undefined, other: string): string {
  return one === undefined || other < one ? other : one
}
