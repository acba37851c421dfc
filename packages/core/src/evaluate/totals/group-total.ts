import type { Extension } from 'fhir/r4.js'
import type { UnitConversion } from '../../fhirpath/index.js'
import type { GroupCounts, SupplementValues } from '../languages/index.js'
import type { GroupPlan, Population } from '../measure-plan.js'
import type { Membership } from '../membership.js'
import {
  compareText,
  isBefore,
  type Stratum,
  type StratumValue,
  type Tally,
  type Amount,
  type FirstSubject,
  type GroupSum,
  type PopulationSums,
  type SumOfStratum,
  type SumOfValue,
} from './sums.js'
import { OperationError, quoted } from '../../errors/index.js'

/** The contribution of one subject to a group. */
export interface SubjectResult {
  /** For each population, the references of its members. */
  readonly members: readonly (readonly string[])[]
  /** For each population of observations, these with the reference of the observed member. */
  readonly observations: readonly (readonly Observed[])[]
  /** For each stratifier, the strata that members are in. */
  readonly strata: readonly StrataOfMembers[]
  /** For each population, the values of its supporting evidence; absent when the report has none. */
  readonly evidence?: readonly (readonly (readonly Extension[])[])[]
}

/** An observation of a member. */
export interface Observed {
  readonly member: string
  readonly value: Amount
}

/** The strata of a stratifier for one subject, by their keys: the values of each, and which members are in it. */
export type StrataOfMembers = ReadonlyMap<
  string,
  { readonly values: readonly StratumValue[] | undefined; readonly isIn: (member: string) => boolean }
>

/** The totals so far of the populations of a group, or of one of its strata. */
interface PopulationTotals {
  readonly counts: number[]
  /** The members themselves, if they are requested. */
  readonly members: string[][]
  readonly observations: Amount[][]
}

/** Adds up the contributions of subjects to a group, in any order. */
export interface GroupTotal {
  add(subject: string, result: SubjectResult): void
  /** Adds subjects of which only the number in each population is known. */
  addCounts(counts: readonly number[]): void
  /** Adds the counts of other subjects. */
  addSum(sum: GroupSum): void
  /** The sum so far. Evidence is left out, because only the report of one subject has it. */
  sum(): GroupSum
  counts(): GroupCounts
}

interface OpenStratum {
  values: readonly StratumValue[] | undefined
  readonly totals: PopulationTotals
  first: FirstSubject
}

/** Options of totals. */
interface TotalOptions {
  /** Whether members are requested. */
  readonly listed: boolean
  /** Converts observations with different units, in order to aggregate them. */
  readonly convert: UnitConversion | undefined
}

/** Creates the totals of a group. */
export function groupTotal(group: GroupPlan, memberships: readonly Membership[], { listed, convert }: TotalOptions): GroupTotal {
  const whole = noTotals(group)
  const strata = group.stratifiers.map(() => new Map<string, OpenStratum>())
  let evidence: SubjectResult['evidence']
  const scored = ({ observations }: PopulationTotals): ObservedScore => observedScore({ group, memberships, observations, convert })
  const stratum = (index: number, { key, values, first }: Pick<SumOfStratum, 'first' | 'key' | 'values'>): PopulationTotals => {
    const known = strata[index]?.get(key) ?? { values, totals: noTotals(group), first }
    // Values with the same key may have other displays: the first subject decides, in whatever order subjects are added.
    if (isBefore(first, known.first)) {
      known.first = first
      known.values = values
    }
    strata[index]?.set(key, known)
    return known.totals
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
      addSums(whole, sum)
      for (const [index, divided] of sum.strata.entries()) for (const one of divided) addSums(stratum(index, one), one)
    },
    sum: () => ({
      ...sumOf(whole, listed),
      strata: strata.map((known) =>
        Array.from(known, ([key, { values, totals, first }]) => ({ key, values, first, ...sumOf(totals, listed) })),
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
          .map(({ values, totals }): Stratum => ({
            ...(values !== undefined && { values }),
            populations: tallies(totals, memberships, listed),
            ...scored(totals),
          })),
      ),
    }),
  }
}

interface Adding extends Pick<TotalOptions, 'listed'> {
  /** Which members are counted; all when absent. */
  readonly isIn?: (member: string) => boolean
}

/** Adds the contribution of a subject. */
function addTo(totals: PopulationTotals, { members, observations }: SubjectResult, { listed, isIn }: Adding): void {
  members.forEach((all, index) => {
    const own = isIn === undefined ? all : all.filter(isIn)
    totals.counts[index] = (totals.counts[index] ?? 0) + own.length
    if (listed) totals.members[index]?.push(...own)
  })
  observations.forEach((all, index) => {
    for (const { member, value } of all) if (isIn === undefined || isIn(member)) totals.observations[index]?.push(value)
  })
}

/**
 * Leaves out strata that do not apply. An empty list counts as a set of resources only if the stratifier gives no subject a value; null counts as a value
 * only if the stratifier is a criterion for no subject.
 */
function reported(all: readonly OpenStratum[]): readonly OpenStratum[] {
  const isCriterion = all.some(({ values }) => values === undefined)
  const strata = isCriterion ? all.filter(({ values }) => values === undefined || !isNull(values)) : all
  if (strata.every(({ values }) => values === undefined)) return strata
  return strata.filter(({ values, totals }) => values !== undefined || totals.counts.some((count) => count > 0))
}

/** Whether the only value of a stratum is null. */
function isNull([only, ...others]: readonly StratumValue[]): boolean {
  return only?.concept['text'] === 'null' && only.concept['coding'] === undefined && others.length === 0
}

function addSums(totals: PopulationTotals, { counts, members = [], observations }: PopulationSums): void {
  for (const [index, count] of counts.entries()) totals.counts[index] = (totals.counts[index] ?? 0) + count
  for (const [index, all] of members.entries()) totals.members[index] = [...(totals.members[index] ?? []), ...all]
  for (const [index, all] of observations.entries()) totals.observations[index] = [...(totals.observations[index] ?? []), ...all]
}

function sumOf({ counts, members, observations }: PopulationTotals, listed: boolean): PopulationSums {
  return { counts, ...(listed && { members }), observations }
}

function bySubject({ first: one }: OpenStratum, { first: other }: OpenStratum): number {
  return compareText(one.subject, other.subject) || one.place - other.place
}

function noTotals({ populations }: GroupPlan): PopulationTotals {
  return { counts: populations.map(() => 0), members: populations.map(() => []), observations: populations.map(() => []) }
}

function tallies(
  { counts, members, observations }: PopulationTotals,
  memberships: readonly Membership[],
  listed: boolean,
): readonly Tally[] {
  return memberships.map(({ observed }, index) => {
    if (observed !== undefined) return { count: observations[index]?.length ?? 0 }
    return { count: counts[index] ?? 0, ...(listed && { members: (members[index] ?? []).toSorted(compareText) }) }
  })
}

/** Adds up supplemental data, or a risk adjustment factor, of subjects, in any order. */
interface SupplementTotal {
  /** Adds the values of a subject, by their keys. */
  add(subject: string, values: ReadonlyMap<string, StratumValue>): void
  /** Adds the values of other subjects. */
  addSum(sum: readonly SumOfValue[]): void
  /** The sum so far. */
  sum(): readonly SumOfValue[]
  values(): SupplementValues['values']
}

/** Creates the total of one of the Measure's supplements. */
export function supplementTotal(): SupplementTotal {
  const values = new Map<string, SumOfValue>()
  const addOne = ({ key, value, count, first }: SumOfValue): void => {
    const known = values.get(key)
    // Values with the same key may have other displays: the first subject decides, in whatever order subjects are added.
    const earliest = known === undefined || isBefore(first, known.first) ? { value, first } : { value: known.value, first: known.first }
    values.set(key, { key, ...earliest, count: (known?.count ?? 0) + count })
  }
  return {
    add: (subject, own) => {
      let place = 0
      for (const [key, value] of own) addOne({ key, value, count: 1, first: { subject, place: place++ } })
    },
    addSum: (sum) => {
      for (const one of sum) addOne(one)
    },
    sum: () => [...values.values()],
    values: () =>
      [...values.values()]
        .toSorted((one, other) => compareText(one.first.subject, other.first.subject) || one.first.place - other.first.place)
        .map(({ value, count }) => ({ value, count })),
  }
}

/** The score from observations. */
interface ObservedScore {
  readonly score?: number | undefined
  /** The UCUM unit of the score; absent for a number. */
  readonly scoreUnit?: string | undefined
}

interface Observing {
  readonly group: GroupPlan
  readonly memberships: readonly Membership[]
  /** By population. */
  readonly observations: readonly (readonly Amount[])[]
  readonly convert: UnitConversion | undefined
}

/** An aggregate of observations. */
interface Aggregate {
  /** Kinds of the observed population. */
  readonly kinds: readonly string[]
  readonly value: number | undefined
  readonly unit: string | undefined
}

/**
 * The score from observations: their aggregate or, for a ratio, the quotient of two. Sums do not depend on the order of subjects.
 *
 * @throws {OperationError} `definition-invalid` for an unknown aggregate method, and for observations whose units cannot be compared.
 */
function observedScore({ group, memberships, observations, convert }: Observing): ObservedScore {
  const aggregates = memberships.flatMap(({ observed }, index): readonly Aggregate[] => {
    const population = group.populations[index]
    if (observed === undefined || population === undefined) return []
    return [{ kinds: group.populations[observed]?.kinds ?? [], ...aggregateOf(population, observations[index] ?? [], convert) }]
  })
  const [first] = aggregates
  if (group.scoring === 'continuous-variable')
    return { score: first?.value, scoreUnit: first?.value === undefined ? undefined : first.unit }
  const above = aggregates.find(({ kinds }) => kinds.includes('numerator'))
  const below = aggregates.find(({ kinds }) => kinds.includes('denominator'))
  if (above?.value === undefined || below?.value === undefined || below.value === 0) return {}
  return { score: above.value / (below.value * factorOf(below.unit, above.unit, convert)) }
}

/** The factor that converts the denominator to the unit of the numerator; amounts that cannot be converted are divided unchanged. */
function factorOf(from: string | undefined, to: string | undefined, convert: UnitConversion | undefined): number {
  return from === undefined || to === undefined || from === to ? 1 : (convert?.(from, to) ?? 1)
}

function aggregateOf(
  population: Population,
  observations: readonly Amount[],
  convert: UnitConversion | undefined,
): Omit<Aggregate, 'kinds'> {
  const aggregate = methodOf(population)
  if (aggregate === countOf) return { value: observations.length, unit: undefined }
  const unit = commonUnit(population, observations, convert)
  const values = observations.map((amount) => (typeof amount === 'number' ? amount : inUnit(amount, unit, convert)))
  return { value: aggregate(values.toSorted((one, other) => one - other)), unit }
}

/** The first unit of the observations, in the order of texts; all others must be convertible to it. */
function commonUnit({ place, path }: Population, observations: readonly Amount[], convert: UnitConversion | undefined): string | undefined {
  const units = [...new Set(observations.map((amount) => (typeof amount === 'number' ? '1' : amount.unit)))].toSorted(compareText)
  const [first, ...others] = units
  const other = others.find((unit) => convert?.(unit, first ?? '') === undefined)
  if (other === undefined) return first === '1' ? undefined : first
  throw new OperationError(
    'definition-invalid',
    `${place} gives amounts in ${quoted(first ?? '')} and in ${quoted(other)}, which do not compare.`,
    {
      expression: [path],
    },
  )
}

function inUnit({ value, unit }: Exclude<Amount, number>, wanted = '1', convert: UnitConversion | undefined): number {
  return unit === wanted ? value : value * (convert?.(unit, wanted) ?? 1)
}

/** Aggregates values that are sorted in ascending order. */
type Method = (values: readonly number[]) => number | undefined

const METHODS: Readonly<Record<string, Method>> = {
  count: countOf,
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

/** The function that aggregates the observations of a population (Quality Measure IG, aggregate method). */
function methodOf({ aggregateMethod = '', place, path }: Population): Method {
  const name = aggregateMethod.toLowerCase()
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (method !== undefined) return method
  throw new OperationError('definition-invalid', `${place}: ${quoted(aggregateMethod)} is not a way to aggregate observations.`, {
    expression: [path],
  })
}

function countOf(values: readonly number[]): number {
  return values.length
}

/** As in CQL, an empty list has no sum. */
function totalOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0)
}

function averageOf(values: readonly number[]): number | undefined {
  const total = totalOf(values)
  return total === undefined ? undefined : total / values.length
}

function leastOf(values: readonly number[]): number | undefined {
  return values[0]
}

function greatestOf(values: readonly number[]): number | undefined {
  return values.at(-1)
}

function medianOf(values: readonly number[]): number | undefined {
  const middle = Math.floor(values.length / 2)
  const [above, below] = [values[middle], values[middle - 1]]
  return values.length % 2 === 1 || above === undefined || below === undefined ? above : (above + below) / 2
}
