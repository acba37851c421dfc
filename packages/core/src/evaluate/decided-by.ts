import type { GroupPlan, Population } from './measure-plan.js'
import type { Membership } from './membership.js'

/** An empty population, and what is known of the others. */
export interface EmptyPopulation {
  readonly group: GroupPlan
  readonly membership: Membership
  readonly index: number
  /** Whether a population has any members. */
  readonly has: (index: number) => boolean
}

/** The reason why a population is empty, other than its own criterion: a population around it that is empty too, or one that is excluded from it. */
export function decidedBy({
  group: { populations },
  membership: { all, none },
  index,
  has,
}: EmptyPopulation): { readonly result: 'false' | 'not-applicable'; readonly decided: string } | undefined {
  const outside = all.find((other) => other !== index && !has(other))
  if (outside !== undefined)
    return { result: 'not-applicable', decided: `the subject is not in the ${populationTitle(populations[outside], outside)}` }
  const excluding = none.find(has)
  if (excluding === undefined) return undefined
  return { result: 'false', decided: `the subject is in the ${populationTitle(populations[excluding], excluding)}` }
}

/** Such as `denominator exclusion`; for a population without a code, its number. */
export function populationTitle(population: Population | undefined, index: number): string {
  return population?.kinds[0]?.replaceAll('-', ' ') ?? `population ${index + 1}`
}
