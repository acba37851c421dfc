import type { Extension } from 'fhir/r4.js'
import type { GroupCounts, GroupPlan } from 'fhir-ops/evaluate'
import type { Stratum, StratumValue, Tally, Membership } from 'fhir-ops/internal/evaluate'
import { aggregateOf } from './aggregate.js'

/** What one subject contributes to a group. */
export interface SubjectResult {
  /** For each population, references of what belongs to it. */
  readonly members: readonly (readonly string[])[]
  /** For each population that observes, the observations with the reference of what was observed. */
  readonly observations: readonly (readonly Observed[])[]
  /** For each stratifier, the strata that members are in. */
  readonly strata: readonly StrataOfMembers[]
  /** For each population, the values of its supporting evidence; absent where the report has none. */
  readonly evidence?: readonly (readonly (readonly Extension[])[])[]
}

/** An observation of a member. */
export interface Observed {
  readonly member: string
  readonly value: number
}

/** The strata of a stratifier for one subject: by what names the stratum, its values and the members that are in it. */
export type StrataOfMembers = ReadonlyMap<
  string,
  { readonly values: readonly StratumValue[] | undefined; readonly isIn: (member: string) => boolean }
>

/** Counts of one part of a group so far. */
interface Part {
  readonly members: string[][]
  readonly observations: number[][]
}

/** Adds up what subjects contribute to a group. */
export interface GroupTotal {
  add(result: SubjectResult): void
  counts(listed: boolean): GroupCounts
}

/** Begins the totals of a group. */
export function groupTotal(group: GroupPlan, memberships: readonly Membership[]): GroupTotal {
  const whole = emptyPart(group)
  const strata = group.stratifiers.map(
    () => new Map<string, { readonly values: readonly StratumValue[] | undefined; readonly part: Part }>(),
  )
  let evidence: SubjectResult['evidence']
  return {
    add: (result) => {
      evidence = result.evidence
      addTo(whole, result, () => true)
      for (const [index, divided] of result.strata.entries())
        for (const [key, { values, isIn }] of divided) {
          const known = strata[index]?.get(key) ?? { values, part: emptyPart(group) }
          strata[index]?.set(key, known)
          addTo(known.part, result, isIn)
        }
    },
    counts: (listed) => ({
      populations: tallies(whole, memberships, listed).map((tally, index) => ({
        ...tally,
        ...(evidence?.[index] !== undefined && { evidence: evidence[index] }),
      })),
      score: scoreOf(group, memberships, whole),
      strata: strata.map((known) =>
        [...known.values()].map(({ values, part }): Stratum => ({
          ...(values !== undefined && { values }),
          populations: tallies(part, memberships, listed),
          score: scoreOf(group, memberships, part),
        })),
      ),
    }),
  }
}

function emptyPart({ populations }: GroupPlan): Part {
  return { members: populations.map(() => []), observations: populations.map(() => []) }
}

function addTo(part: Part, { members, observations }: SubjectResult, isIn: (member: string) => boolean): void {
  for (const [index, all] of members.entries()) part.members[index]?.push(...all.filter(isIn))
  for (const [index, all] of observations.entries())
    part.observations[index]?.push(...all.filter(({ member }) => isIn(member)).map(({ value }) => value))
}

function tallies({ members, observations }: Part, memberships: readonly Membership[], listed: boolean): readonly Tally[] {
  return memberships.map(({ observed }, index) => {
    if (observed !== undefined) return { count: observations[index]?.length ?? 0 }
    const own = members[index] ?? []
    return { count: own.length, ...(listed && { members: own }) }
  })
}

/** The score that observations make: their aggregate, or of a ratio the quotient of two. */
function scoreOf(group: GroupPlan, memberships: readonly Membership[], { observations }: Part): number | undefined {
  const aggregates = memberships.flatMap(({ observed }, index) => {
    const population = group.populations[index]
    if (observed === undefined || population === undefined) return []
    return [{ kinds: group.populations[observed]?.kinds ?? [], value: aggregateOf(population)(observations[index] ?? []) }]
  })
  if (group.scoring === 'continuous-variable') return aggregates[0]?.value
  const above = aggregates.find(({ kinds }) => kinds.includes('numerator'))?.value
  const below = aggregates.find(({ kinds }) => kinds.includes('denominator'))?.value
  return above === undefined || below === undefined || below === 0 ? undefined : above / below
}
