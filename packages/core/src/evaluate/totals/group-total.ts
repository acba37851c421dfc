import type { Extension } from 'fhir/r4.js'
import { OperationError, quoted } from '../../errors/index.js'
import type { GroupCounts } from '../languages/index.js'
import type { GroupPlan, Population } from '../measure-plan.js'
import type { Membership } from '../membership.js'
import type { Stratum, StratumValue } from '../stratum.js'
import type { Tally } from '../tally.js'
import { compareText, isBefore, type FirstSubject, type GroupSum, type SumOfPart, type SumOfStratum } from './sums.js'

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
  readonly counts: number[]
  /** The members themselves, where they are asked for. */
  readonly members: string[][]
  readonly observations: number[][]
}

/** Adds up what subjects contribute to a group, in whatever order they come. */
export interface GroupTotal {
  add(subject: string, result: SubjectResult): void
  /** Adds subjects of whom nothing is known but how many belong to each population. */
  addCounts(counts: readonly number[]): void
  /** Adds what other subjects come to. */
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

/** Begins the totals of a group. */
export function groupTotal(group: GroupPlan, memberships: readonly Membership[], listed: boolean): GroupTotal {
  const whole = emptyPart(group)
  const strata = group.stratifiers.map(() => new Map<string, OpenStratum>())
  let evidence: SubjectResult['evidence']
  const addTo = (part: Part, { members, observations }: SubjectResult, isIn: (member: string) => boolean): void => {
    for (const [index, all] of members.entries()) {
      const own = all.filter(isIn)
      part.counts[index] = (part.counts[index] ?? 0) + own.length
      if (listed) part.members[index]?.push(...own)
    }
    for (const [index, all] of observations.entries())
      part.observations[index]?.push(...all.filter(({ member }) => isIn(member)).map(({ value }) => value))
  }
  const stratum = (index: number, { key, values, first }: Pick<SumOfStratum, 'first' | 'key' | 'values'>): Part => {
    const known = strata[index]?.get(key) ?? { values, part: emptyPart(group), first }
    if (isBefore(first, known.first)) known.first = first
    strata[index]?.set(key, known)
    return known.part
  }
  return {
    add: (subject, result) => {
      evidence = result.evidence
      addTo(whole, result, () => true)
      for (const [index, divided] of result.strata.entries())
        [...divided].forEach(([key, { values, isIn }], place) => {
          addTo(stratum(index, { key, values, first: { subject, place } }), result, isIn)
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
      score: scoreOf(group, memberships, whole),
      strata: strata.map((known) =>
        reported([...known.values()])
          .toSorted(bySubject)
          .map(({ values, part }): Stratum => ({
            ...(values !== undefined && { values }),
            populations: tallies(part, memberships, listed),
            score: scoreOf(group, memberships, part),
          })),
      ),
    }),
  }
}

/** An empty list is no set of resources where the same stratifier gives others values. */
function reported(strata: readonly OpenStratum[]): readonly OpenStratum[] {
  if (strata.every(({ values }) => values === undefined)) return strata
  return strata.filter(({ values, part }) => values !== undefined || part.counts.some((count) => count > 0))
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

/** The score that observations make: their aggregate, or of a ratio the quotient of two. Sums do not depend on the order of subjects. */
function scoreOf(group: GroupPlan, memberships: readonly Membership[], { observations }: Part): number | undefined {
  const aggregates = memberships.flatMap(({ observed }, index) => {
    const population = group.populations[index]
    if (observed === undefined || population === undefined) return []
    const sorted = (observations[index] ?? []).toSorted((one, other) => one - other)
    return [{ kinds: group.populations[observed]?.kinds ?? [], value: aggregateOf(population)(sorted) }]
  })
  if (group.scoring === 'continuous-variable') return aggregates[0]?.value
  const above = aggregates.find(({ kinds }) => kinds.includes('numerator'))?.value
  const below = aggregates.find(({ kinds }) => kinds.includes('denominator'))?.value
  return above === undefined || below === undefined || below === 0 ? undefined : above / below
}

const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number | undefined>> = {
  count: (values) => values.length,
  sum: totalOf,
  average: averageOf,
  mean: averageOf,
  median: medianOf,
  minimum: leastOf,
  min: leastOf,
  maximum: greatestOf,
  max: greatestOf,
  avg: averageOf,
}

/**
 * The function by which the observations of a population are put together (Quality Measure IG, aggregate method).
 *
 * @throws {OperationError} `definition-invalid` for a method that does not exist.
 */
function aggregateOf({ aggregateMethod = 'count', place, path }: Population): (values: readonly number[]) => number | undefined {
  const name = aggregateMethod.toLowerCase()
  const aggregate = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined
  if (aggregate !== undefined) return aggregate
  throw new OperationError('definition-invalid', `${place}: ${quoted(aggregateMethod)} is no way to aggregate observations.`, {
    expression: [path],
  })
}

function totalOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

function averageOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : totalOf(values) / values.length
}

function leastOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((least, value) => Math.min(least, value))
}

function greatestOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((greatest, value) => Math.max(greatest, value))
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [above, below] = [sorted[middle], sorted[middle - 1]]
  return sorted.length % 2 === 1 || above === undefined || below === undefined ? above : (above + below) / 2
}
