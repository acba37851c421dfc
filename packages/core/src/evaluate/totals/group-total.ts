import type { Extension } from 'fhir/r4.js'
import type { UnitConversion } from '../../fhirpath/index.js'
import type { GroupCounts } from '../languages/index.js'
import type { GroupPlan } from '../measure-plan.js'
import type { Membership } from '../membership.js'
import type { Stratum, StratumValue, Tally } from '../tally.js'
import { observedScore, type ObservedScore } from './observed-score.js'
import { compareText, isBefore, type Amount, type FirstSubject, type GroupSum, type SumOfPart, type SumOfStratum } from './sums.js'

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
  readonly value: Amount
}

/** The strata of a stratifier for one subject: by what names the stratum, its values and the members that are in it. */
export type StrataOfMembers = ReadonlyMap<
  string,
  { readonly values: readonly StratumValue[] | undefined; readonly isIn: (member: string) => boolean }
>

/** Counts of one part of a group so far. */
interface Part {
  readonly counts: number[]
  /** The members themselves, where they are asked for. */
  readonly members: string[][]
  readonly observations: Amount[][]
}

/** Adds up what subjects contribute to a group, in whatever order they come. */
export interface GroupTotal {
  add(subject: string, result: SubjectResult): void
  /** Adds subjects of whom nothing is known but how many belong to each population. */
  addCounts(counts: readonly number[]): void
  /** Adds the counts of other subjects. */
  addSum(sum: GroupSum): void
  /** What was added so far. Evidence, which only the report of one subject has, is left out. */
  sum(): GroupSum
  counts(): GroupCounts
}

interface OpenStratum {
  readonly values: readonly StratumValue[] | undefined
  readonly part: Part
  first: FirstSubject
}

/** What totals are made for. */
interface TotalOptions {
  /** Whether members are asked for. */
  readonly listed: boolean
  /** By which observations in several units are put together. */
  readonly convert: UnitConversion | undefined
}

/** Begins the totals of a group. */
export function groupTotal(group: GroupPlan, memberships: readonly Membership[], { listed, convert }: TotalOptions): GroupTotal {
  const whole = emptyPart(group)
  const strata = group.stratifiers.map(() => new Map<string, OpenStratum>())
  let evidence: SubjectResult['evidence']
  const scored = ({ observations }: Part): ObservedScore => observedScore({ group, memberships, observations, convert })
  const stratum = (index: number, { key, values, first }: Pick<SumOfStratum, 'first' | 'key' | 'values'>): Part => {
    const known = strata[index]?.get(key) ?? { values, part: emptyPart(group), first }
    if (isBefore(first, known.first)) known.first = first
    strata[index]?.set(key, known)
    return known.part
  }
  return {
    add: (subject, result) => {
      evidence = result.evidence
      addTo(whole, result, { listed })
      for (const [index, divided] of result.strata.entries())
        [...divided].forEach(([key, { values, isIn }], place) => {
          addTo(stratum(index, { key, values, first: { subject, place } }), result, { listed, isIn })
        })
    },
    addSum: (sum) => {
      addPart(whole, sum)
      for (const [index, divided] of sum.strata.entries()) for (const one of divided) addPart(stratum(index, one), one)
    },
    sum: () => ({
      ...sumOf(whole, listed),
      strata: strata.map((known) =>
        Array.from(known, ([key, { values, part, first }]) => ({ key, values, first, ...sumOf(part, listed) })),
      ),
    }),
    addCounts: (counts) => {
      for (const [index, count] of counts.entries()) whole.counts[index] = (whole.counts[index] ?? 0) + count
    },
    counts: () => ({
      populations: tallies(whole, memberships, listed).map((tally, index) => ({
        ...tally,
        ...(evidence?.[index] !== undefined && { evidence: evidence[index] }),
      })),
      ...scored(whole),
      strata: strata.map((known) =>
        reported([...known.values()])
          .toSorted(bySubject)
          .map(({ values, part }): Stratum => ({
            ...(values !== undefined && { values }),
            populations: tallies(part, memberships, listed),
            ...scored(part),
          })),
      ),
    }),
  }
}

interface Adding extends Pick<TotalOptions, 'listed'> {
  /** Which members are in the part; all where it is absent. */
  readonly isIn?: (member: string) => boolean
}

/** Adds what a subject contributes to a part. */
function addTo(part: Part, { members, observations }: SubjectResult, { listed, isIn }: Adding): void {
  members.forEach((all, index) => {
    const own = isIn === undefined ? all : all.filter(isIn)
    part.counts[index] = (part.counts[index] ?? 0) + own.length
    if (listed) part.members[index]?.push(...own)
  })
  observations.forEach((all, index) => {
    for (const { member, value } of all) if (isIn === undefined || isIn(member)) part.observations[index]?.push(value)
  })
}

/**
 * An empty list is not a set of resources where the same stratifier gives others values. Null is not a value where the stratifier is a criterion for
 * others.
 */
function reported(all: readonly OpenStratum[]): readonly OpenStratum[] {
  const isCriterion = all.some(({ values }) => values === undefined)
  const strata = isCriterion ? all.filter(({ values }) => values === undefined || !isNull(values)) : all
  if (strata.every(({ values }) => values === undefined)) return strata
  return strata.filter(({ values, part }) => values !== undefined || part.counts.some((count) => count > 0))
}

/** Whether the only value of a stratum is null. */
function isNull([only, ...others]: readonly StratumValue[]): boolean {
  return only?.concept['text'] === 'null' && only.concept['coding'] === undefined && others.length === 0
}

function addPart(part: Part, { counts, members = [], observations }: SumOfPart): void {
  for (const [index, count] of counts.entries()) part.counts[index] = (part.counts[index] ?? 0) + count
  for (const [index, all] of members.entries()) part.members[index] = [...(part.members[index] ?? []), ...all]
  for (const [index, all] of observations.entries()) part.observations[index] = [...(part.observations[index] ?? []), ...all]
}

function sumOf({ counts, members, observations }: Part, listed: boolean): SumOfPart {
  return { counts, ...(listed && { members }), observations }
}

function bySubject({ first: one }: OpenStratum, { first: other }: OpenStratum): number {
  return compareText(one.subject, other.subject) || one.place - other.place
}

function emptyPart({ populations }: GroupPlan): Part {
  return { counts: populations.map(() => 0), members: populations.map(() => []), observations: populations.map(() => []) }
}

function tallies({ counts, members, observations }: Part, memberships: readonly Membership[], listed: boolean): readonly Tally[] {
  return memberships.map(({ observed }, index) => {
    if (observed !== undefined) return { count: observations[index]?.length ?? 0 }
    return { count: counts[index] ?? 0, ...(listed && { members: (members[index] ?? []).toSorted(compareText) }) }
  })
}
