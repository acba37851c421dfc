import { checkpoint, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { allMatches, type Condition, type SearchQuery } from '../../../storage/index.js'
import type { Tally } from '../../tally.js'
import type { Scope } from '../language.js'
import { commonType, countedQuery, namesSubject, type Counted } from './criterion-query.js'
import { perSubjectTally } from './per-subject.js'

const PAGE = 500

/** The definition of a population's members: found by every query inside and by none outside. */
export interface Members {
  readonly inside: readonly Counted[]
  readonly outside: readonly Counted[]
}

type TallyQuery = (query: SearchQuery) => Promise<Tally>

/**
 * Returns a function that counts or, if the scope requests it, lists the members of populations: with one query, or one for each subject.
 *
 * @throws {OperationError} `definition-invalid` for criteria that count different types; `too-costly` when all populations together have
 *   more members to list than `limits.maxExpansion`; as `perSubjectTally`.
 */
export function membersTally(ctx: OperationContext, scope: Scope): (members: Members) => Promise<Tally> {
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
export async function mapInOrder<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<readonly B[]> {
  const done: B[] = []
  for (const item of items) done.push(await work(item))
  return done
}
