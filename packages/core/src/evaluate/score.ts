import type { GroupPlan } from './measure-plan.js'

/** Numerator over denominator, each without what is excluded from it; `undefined` without such a scoring or with nothing to divide by. */
export function scoreOf({ scoring, populations }: GroupPlan, counts: readonly number[]): number | undefined {
  if (scoring !== 'proportion' && scoring !== 'ratio') return undefined
  const count = (kind: string): number => counts[populations.findIndex((population) => population.kinds.includes(kind))] ?? 0
  const above = count('numerator') - count('numerator-exclusion')
  const below = count('denominator') - count('denominator-exclusion') - count('denominator-exception')
  return below > 0 ? above / below : undefined
}
