import { checkpoint, type OperationContext } from '../../../context/index.js'
import type { Condition, SearchQuery } from '../../../storage/index.js'
import type { Criterion, GroupPlan } from '../../measure-plan.js'
import { membershipsOf } from '../../membership.js'
import type { Tally } from '../../tally.js'
import type { GroupCounts, Scope } from '../language.js'
import { checkSameType, countedQuery, type Counted } from './counted-query.js'
import { memberLister } from './member-lister.js'

/**
 * Counts groups by queries that the storage answers: a population is a condition on what is counted, belonging to another population
 * as well is a conjunction, exclusion a negation. Equal queries are counted once.
 */
export function queryEvaluator(ctx: OperationContext, scope: Scope): (group: GroupPlan) => Promise<GroupCounts> {
  const tally = scope.listed === true ? memberLister(ctx) : counter(ctx)
  const queriesOf = (criteria: readonly Criterion[]): Promise<readonly Counted[]> =>
    inTurn(criteria, (criterion) => countedQuery(ctx, criterion, scope))
  return async (group) => {
    const memberships = membershipsOf(group)
    const own = await queriesOf(group.populations)
    const strata = await queriesOf(group.stratifiers)
    const members = memberships.map(({ all, none }) => ({ inside: chosen(own, all), outside: chosen(own, none) }))
    return {
      populations: await inTurn(members, (member) => tally(intersection(member))),
      strata: await inTurn(strata, (stratum) =>
        inTurn(members, ({ inside, outside }) => tally(intersection({ inside: [...inside, stratum], outside }))),
      ),
    }
  }
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
