import type { Coding, DataRequirementCodeFilter, DataRequirementDateFilter, Period } from 'fhir/r4.js'
import { checkpoint, createPace, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { parseSearch, searchTypesOf, type SearchOptions } from '../../../search/index.js'
import { splitUnescaped, unescaped } from '../../../search/written-values.js'
import { allMatches, type Condition, type SearchQuery } from '../../../storage/index.js'
import type { Criterion, GroupPlan, Stratifier } from '../../measure-plan.js'
import { membershipsOf } from '../../membership.js'
import { singleSubject, subjectConditions, subjectLinks, type SubjectLinks } from '../../subject.js'
import type { Stratum, Tally } from '../../totals/sums.js'
import {
  NO_COUNTS,
  type CriteriaLanguage,
  type GroupCounts,
  type MeasureCounts,
  type RequiredData,
  type RequirementScope,
  type Requirements,
  type Scope,
} from '../language.js'
import {
  commonType,
  countedQuery,
  namesSubject,
  parseExpression,
  searchOptions,
  subjectVariables,
  withPlace,
  type Counted,
} from './criterion-query.js'
import { explainQueries } from './explain-queries.js'
import { valueDivider } from './value-strata.js'

const QUERY_LANGUAGE = 'application/x-fhir-query'

/** Criteria that are FHIR searches, which the storage counts, and strata by values that FHIRPath finds in the counted resources. */
export const xFhirQuery: CriteriaLanguage = {
  names: [QUERY_LANGUAGE],
  valueNames: ['text/fhirpath'],
  evaluate: evaluateQueries,
  requirements: queryRequirements,
}

/**
 * Counts groups by queries to the storage: a population is a condition on what is counted, being within another population is a conjunction, and exclusion
 * is a negation. Equal queries are counted once. Populations with a criterion that names the subject are counted for each subject. All criteria of a group
 * are checked before the group is counted.
 */
async function evaluateQueries(ctx: OperationContext, scope: Scope): Promise<MeasureCounts> {
  let done = 0
  const counting: Counting = {
    ctx,
    scope,
    tally: membersTally(ctx, scope),
    list: membersTally(ctx, { ...scope, listed: true }),
    onPopulation: () => ctx.onProgress?.({ done: done++, of: 'populations' }),
  }
  const groups = await mapInOrder(scope.groups, (group) => groupCounts(counting, group))
  if (ctx.explain !== undefined && scope.individual === true)
    for (const [index, group] of scope.groups.entries()) await explainQueries(ctx, scope, { group, counts: groups[index] ?? NO_COUNTS })
  return { groups }
}

/** An evaluation of groups. Its functions remember the queries of earlier groups. */
interface Counting {
  readonly ctx: OperationContext
  readonly scope: Scope
  /** Counts the members of a population, and lists them if the scope requests it. */
  readonly tally: TallyMembers
  /** As `tally`, but always lists them. */
  readonly list: TallyMembers
  /** Reports progress before a population is counted. */
  readonly onPopulation: () => void
}

async function groupCounts(counting: Counting, group: GroupPlan): Promise<GroupCounts> {
  const { tally, list, onPopulation } = counting
  const memberships = membershipsOf(group)
  const queries = await mapInOrder(group.populations, (criterion) => queryOf(counting, criterion))
  const dividers = await mapInOrder(group.stratifiers, (stratifier) => dividerOf(counting, stratifier))
  const members = memberships.map(({ all, none }) => ({ inside: chosen(queries, all), outside: chosen(queries, none) }))
  const populations = await mapInOrder(members, (own) => {
    onPopulation()
    return tally(own)
  })
  let lists: Promise<readonly Tally[]> | undefined
  const listed = (): Promise<readonly Tally[]> => (lists ??= mapInOrder(members, list))
  return { populations, strata: await mapInOrder(dividers, (divide) => divide({ members, listed })) }
}

/** Id of no particular subject, with which criteria that name the subject are checked before subjects are searched. */
const TRIAL_ID = 'any'

async function queryOf({ ctx, scope }: Counting, written: Criterion): Promise<Counted> {
  const criterion = withoutOwnSubject(await subjectLinks(ctx, scope.subjectType), written)
  return await countedQuery(ctx, criterion, namesSubject(criterion) ? scopeOfSubject(scope, TRIAL_ID) : scope)
}

/** The populations of a group. */
interface Populations {
  readonly members: readonly Members[]
  /** The members of each, searched once. */
  readonly listed: () => Promise<readonly Tally[]>
}

type Divider = (populations: Populations) => Promise<readonly Stratum[]>

/** Checks the criteria of a stratifier. @returns A function that divides populations by them. */
async function dividerOf(counting: Counting, { criteria }: Stratifier): Promise<Divider> {
  const { ctx, scope, tally } = counting
  const [only] = criteria
  if (only?.language === QUERY_LANGUAGE) {
    const stratum = await queryOf(counting, only)
    return async ({ members }) => [
      { populations: await mapInOrder(members, ({ inside, outside }) => tally({ inside: [...inside, stratum], outside })) },
    ]
  }
  const divide = await valueDivider(ctx, criteria)
  return async ({ listed }) => {
    const strata = await divide(await listed())
    return scope.listed === true ? strata : strata.map(withoutMembers)
  }
}

function withoutMembers({ values, populations }: Stratum): Stratum {
  return { ...(values !== undefined && { values }), populations: populations.map(({ count }) => ({ count })) }
}

function chosen(own: readonly Counted[], indexes: readonly number[]): readonly Counted[] {
  return indexes.flatMap((index) => own[index] ?? [])
}

const PAGE = 500

/** The definition of a population's members: found by every query inside and by none outside. */
interface Members {
  readonly inside: readonly Counted[]
  readonly outside: readonly Counted[]
}

type TallyMembers = (members: Members) => Promise<Tally>
type TallyQuery = (query: SearchQuery) => Promise<Tally>

/**
 * Returns a function that counts or, if the scope requests it, lists the members of populations: with one query, or one for each subject.
 *
 * @throws {OperationError} `definition-invalid` for criteria that count different types; `too-costly` when all populations together have
 *   more members to list than `limits.maxExpansion`; as `perSubjectTally`.
 */
function membersTally(ctx: OperationContext, scope: Scope): TallyMembers {
  const lister = scope.listed === true ? memberLister(ctx) : undefined
  const tally = lister ?? counter(ctx)
  const tallyOfEach = perSubjectTally(ctx, scope)
  return async (members) => {
    const query = intersection(members)
    if (![...members.inside, ...members.outside].some(({ criterion }) => namesSubject(criterion))) return tally(query)
    return tallyOfEach(async (own) => (lister ?? counter(ctx))(intersection(await readAgain(ctx, own, members))))
  }
}

async function readAgain(ctx: OperationContext, scope: Scope, { inside, outside }: Members): Promise<Members> {
  const read = ({ criterion }: Counted): Promise<Counted> => countedQuery(ctx, criterion, scope)
  return { inside: await mapInOrder(inside, read), outside: await mapInOrder(outside, read) }
}

function intersection({ inside, outside }: Members): SearchQuery {
  const type = commonType([...inside, ...outside])
  const [only, ...more] = inside
  if (only !== undefined && more.length + outside.length === 0) return only.query
  const conditions: readonly Condition[] = [
    ...inside.map(({ query }) => query.where),
    ...outside.map(({ query }): Condition => ({ kind: 'not', condition: query.where })),
  ]
  return { type, where: { kind: 'and', conditions } }
}

/** Returns a function that counts each query once and remembers the count. */
function counter(ctx: OperationContext): TallyQuery {
  const known = new Map<string, Tally>()
  return async (query) => {
    const key = JSON.stringify([query.type, query.where])
    const before = known.get(key)
    if (before !== undefined) return before
    checkpoint(ctx)
    const counted = { count: await ctx.storage.count(query) }
    known.set(key, counted)
    return counted
  }
}

function memberLister(ctx: OperationContext): TallyQuery {
  const { maxExpansion } = ctx.limits
  let listed = 0
  return async (query) => {
    const members: string[] = []
    for await (const { type, id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
      checkpoint(ctx)
      listed += 1
      if (listed > maxExpansion)
        throw new OperationError('too-costly', `The members of populations can be listed up to ${maxExpansion} in all.`)
      members.push(`${type}/${id}`)
    }
    return { count: members.length, members }
  }
}

/** The results of `work` for each item; each item begins when the previous one is done. */
async function mapInOrder<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<readonly B[]> {
  const done: B[] = []
  for (const item of items) done.push(await work(item))
  return done
}

/**
 * The data that queries use: their types, with filters for their conditions on codes and dates. Other conditions become no filters, so that data
 * which satisfies the requirements is always sufficient.
 *
 * @throws {OperationError} 422 for a criterion that is not a valid search, naming group and population.
 */
async function queryRequirements(ctx: OperationContext, scope: RequirementScope): Promise<Requirements> {
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

/** Limits a scope to one of its subjects. */
function scopeOfSubject(scope: Scope, id: string): Scope {
  return { ...scope, subject: { type: scope.subjectType, id }, practitioner: undefined }
}

/**
 * A criterion with basis `boolean` that names the subject only to select data about this subject, such as `Observation?patient={{%patient.id}}&code=x`,
 * counts the same subjects without that condition, in one query for all. Other criteria are returned unchanged.
 */
function withoutOwnSubject({ subjectType, paramsOf }: SubjectLinks, criterion: Criterion): Criterion {
  if (criterion.basis !== 'boolean' || !namesSubject(criterion)) return criterion
  const [type = '', ...query] = criterion.expression.split('?')
  const [name, ...more] = type === subjectType ? ['_id'] : paramsOf(type)
  if (name === undefined || more.length > 0) return criterion
  const own = subjectVariables(subjectType).flatMap((variable) => [
    `${name}={{%${variable}}}`,
    ...(type === subjectType ? [] : [`${name}=${subjectType}/{{%${variable}}}`]),
  ])
  const others = query
    .join('?')
    .split('&')
    .filter((pair) => !own.includes(pair))
  const simpler = { ...criterion, expression: `${type}?${others.join('&')}` }
  return namesSubject(simpler) ? criterion : simpler
}

/**
 * Returns a function that adds up the tallies of all subjects of a scope, one after the other. The subjects are searched once, at first use.
 *
 * @throws {OperationError} `too-costly` for more subjects than `limits.maxExpansion`; `aborted` and `computation-timeout`; what
 *   `ctx.authorize` throws when the caller may not search subjects.
 */
function perSubjectTally(ctx: OperationContext, scope: Scope): (tallyIn: (own: Scope) => Promise<Tally>) => Promise<Tally> {
  let ids: Promise<readonly string[]> | undefined
  return async (tallyIn) => {
    const pace = createPace(ctx)
    const tallies: Tally[] = []
    for (const id of await (ids ??= subjectIds(ctx, scope))) {
      pace.check()
      await pace.step()
      tallies.push(await tallyIn(scopeOfSubject(scope, id)))
    }
    return {
      count: tallies.reduce((sum, { count }) => sum + count, 0),
      ...(scope.listed === true && { members: tallies.flatMap(({ members }) => members ?? []) }),
    }
  }
}

async function subjectIds(ctx: OperationContext, scope: Scope): Promise<readonly string[]> {
  const subject = singleSubject(scope)
  if (subject !== undefined) return [subject.id]
  ctx.authorize?.('search', scope.subjectType)
  const { query } = await parseSearch(scope.subjectType, subjectConditions(scope), searchOptions(ctx))
  const { maxExpansion } = ctx.limits
  const ids: string[] = []
  for await (const { id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    checkpoint(ctx)
    if (ids.length >= maxExpansion)
      throw new OperationError('too-costly', `Criteria that refer to the subject are evaluated for at most ${maxExpansion} subjects.`)
    ids.push(id)
  }
  return ids
}
