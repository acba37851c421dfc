import { createPace, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import type { Stratum } from '../../stratum.js'
import type { Tally } from '../../tally.js'
import type { ReadValues, Values } from './member-values.js'

/**
 * Divides the populations of a group by the values of their members, in the order in which these come.
 *
 * @param populations With their members.
 * @throws {OperationError} `too-costly` for more strata and members of them than `limits.maxExpansion`; as `readValues`.
 */
export async function valueStrata(
  ctx: OperationContext,
  populations: readonly Tally[],
  readValues: ReadValues,
): Promise<readonly Stratum[]> {
  const known = new Map<string, ReadonlyMap<string, Values>>()
  const strata = openStrata(ctx, populations.length)
  const pace = createPace(ctx)
  for (const [population, { members = [] }] of populations.entries()) {
    for (const member of members) {
      pace.check()
      if (pace.due()) await pace.pause()
      const combinations = known.get(member) ?? (await readValues(member))
      known.set(member, combinations)
      for (const [key, values] of combinations) strata.membersOf(key, values)[population]?.push(member)
    }
  }
  return strata.all()
}

interface OpenStrata {
  /** The members of each population in the stratum of these values so far, to which one is to be added. */
  membersOf(key: string, values: Values): readonly string[][]
  all(): readonly Stratum[]
}

function openStrata({ limits }: OperationContext, populations: number): OpenStrata {
  const strata = new Map<string, { readonly values: Values; readonly members: readonly string[][] }>()
  let size = 0
  return {
    membersOf(key, values) {
      const known = strata.get(key)
      size += known === undefined ? populations : 1
      if (size > limits.maxExpansion)
        throw new OperationError('too-costly', `Strata by values have at most ${limits.maxExpansion} populations and members.`)
      const stratum = known ?? { values, members: Array.from({ length: populations }, () => []) }
      strata.set(key, stratum)
      return stratum.members
    },
    all: () =>
      [...strata.values()].map(({ values, members }) => ({
        values,
        populations: members.map((all) => ({ count: all.length, members: all })),
      })),
  }
}
