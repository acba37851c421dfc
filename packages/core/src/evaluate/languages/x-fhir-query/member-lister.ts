import { checkpoint, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { allMatches, type SearchQuery } from '../../../storage/index.js'
import type { Tally } from '../../tally.js'

const PAGE = 500

/**
 * Gives the members of populations one by one.
 *
 * @throws {OperationError} `too-costly` when all populations together have more members than `limits.maxExpansion`.
 */
export function memberLister(ctx: OperationContext): (query: SearchQuery) => Promise<Tally> {
  const { maxExpansion } = ctx.limits
  let listed = 0
  return async (query) => {
    const members: string[] = []
    for await (const { type, id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
      checkpoint(ctx)
      listed += 1
      if (listed > maxExpansion) throw new OperationError('too-costly', `A report lists at most ${maxExpansion} members of populations.`)
      members.push(`${type}/${id}`)
    }
    return { count: members.length, members }
  }
}
