import { type OperationContext, checkpoint } from '../../../context/index.js'
import type { Criterion, GroupPlan, Stratifier } from '../../measure-plan.js'
import { membershipsOf } from '../../membership.js'
import type { Stratum, Tally } from '../../totals/sums.js'
import { NO_COUNTS, type CriteriaLanguage, type GroupCounts, type MeasureCounts, type Scope } from '../language.js'
import { subjectLinks } from '../../subject.js'
import { countedQuery, namesSubject, type Counted, commonType } from './criterion-query.js'
import { explainQueries } from './explain-queries.js'
import { scopeOfSubject, withoutOwnSubject, perSubjectTally } from './per-subject.js'
import { queryRequirements } from './requirements.js'
import { valueDivider } from './value-strata.js'
import { OperationError } from '../../../errors/index.js'
import { allMatches, type Condition, type SearchQuery } from '../../../storage/index.js'

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
