import { checkpoint, type OperationContext } from '../../../context/index.js'
import type { Condition, SearchQuery } from '../../../storage/index.js'
import type { Criterion, GroupPlan } from '../../measure-plan.js'
import { membershipsOf } from '../../membership.js'
import type { Tally } from '../../tally.js'
import type { GroupCounts, Scope } from '../language.js'
import { checkSameType, countedQuery, type Counted } from './counted-query.js'
import { namesPatient } from './criterion-query.js'
import { eachPatient, ofPatient } from './each-patient.js'
import { memberLister } from './member-lister.js'

/** Stands for every patient where a criterion that names the patient is read to be checked. */
const ANY_PATIENT = 'any'

/**
 * Counts groups by queries that the storage answers: a population is a condition on what is counted, belonging to another population
 * as well is a conjunction, exclusion a negation. Equal queries are counted once. What a criterion that names the patient has a part in is
 * counted for each patient. All criteria of a group are read before anything of it is counted.
 */
export function queryEvaluator(ctx: OperationContext, scope: Scope): (group: GroupPlan) => Promise<GroupCounts> {
  const tally = membersTally(ctx, scope)
  const ofAny = scope.subjectType === 'Patient' ? ofPatient(scope, ANY_PATIENT) : scope
  const queriesOf = (criteria: readonly Criterion[]): Promise<readonly Counted[]> =>
    inTurn(criteria, (criterion) => countedQuery(ctx, criterion, namesPatient(criterion) ? ofAny : scope))
  return async (group) => {
    const memberships = membershipsOf(group)
    const own = await queriesOf(group.populations)
    const strata = await queriesOf(group.stratifiers)
    const members = memberships.map(({ all, none }) => ({ inside: chosen(own, all), outside: chosen(own, none) }))
    return {
      populations: await inTurn(members, tally),
      strata: await inTurn(strata, (stratum) => inTurn(members, ({ inside, outside }) => tally({ inside: [...inside, stratum], outside }))),
    }
  }
}

/** Tells what belongs to a population, in one query or in one for each patient. */
function membersTally(ctx: OperationContext, scope: Scope): (members: Members) => Promise<Tally> {
  const lister = scope.listed === true ? memberLister(ctx) : undefined
  const tally = lister ?? counter(ctx)
  const tallyOfEach = eachPatient(ctx, scope)
  return async (members) => {
    const query = intersection(members)
    if (!criteriaOf(members).some(namesPatient)) return tally(query)
    return tallyOfEach(async (own) => (lister ?? counter(ctx))(intersection(await readIn(ctx, own, members))))
  }
}

function criteriaOf({ inside, outside }: Members): readonly Criterion[] {
  return [...inside, ...outside].map(({ criterion }) => criterion)
}

async function readIn(ctx: OperationContext, scope: Scope, { inside, outside }: Members): Promise<Members> {
  const read = ({ criterion }: Counted): Promise<Counted> => countedQuery(ctx, criterion, scope)
  return { inside: await inTurn(inside, read), outside: await inTurn(outside, read) }
}

function counter(ctx: OperationContext): (query: SearchQuery) => Promise<Tally> {
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

async function inTurn<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<readonly B[]> {
  const done: B[] = []
  for (const item of items) done.push(await work(item))
  return done
}

function chosen(own: readonly Counted[], indexes: readonly number[]): readonly Counted[] {
  return indexes.flatMap((index) => own[index] ?? [])
}

interface Members {
  readonly inside: readonly Counted[]
  readonly outside: readonly Counted[]
}

/** What satisfies every query inside and none outside. */
function intersection({ inside, outside }: Members): SearchQuery {
  const type = checkSameType([...inside, ...outside])
  const [only, ...more] = inside
  if (only !== undefined && more.length + outside.length === 0) return only.query
  const conditions: readonly Condition[] = [
    ...inside.map(({ query }) => query.where),
    ...outside.map(({ query }): Condition => ({ kind: 'not', condition: query.where })),
  ]
  return { type, where: { kind: 'and', conditions } }
}
