import { checkpoint, type OperationContext } from '../../../context/index.js'
import type { Condition, SearchQuery } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Tally } from '../../tally.js'
import type { Scope } from '../language.js'
import { checkSameType, countedQuery, type Counted } from './counted-query.js'
import { namesPatient } from './criterion-query.js'
import { eachPatient } from './each-patient.js'
import { inTurn } from './in-turn.js'
import { memberLister } from './member-lister.js'

/** What belongs to a population: what every query inside finds and none outside. */
export interface Members {
  readonly inside: readonly Counted[]
  readonly outside: readonly Counted[]
}

/** Tells what belongs to a population, in one query or in one for each patient. */
export function membersTally(ctx: OperationContext, scope: Scope): (members: Members) => Promise<Tally> {
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
