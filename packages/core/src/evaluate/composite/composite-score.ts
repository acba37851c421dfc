import { createPace, type OperationContext, type Pace } from '../../context/index.js'
import { conceptOf } from '../concept.js'
import type { Counts } from '../counts.js'
import { NO_COUNTS, type GroupCounts } from '../languages/index.js'
import { headOf, scoreOf, type EvaluatedGroup, type EvaluatedPopulation } from '../result.js'
import type { Component, Composite, CompositeMethod } from './composite-plan.js'

/** The subjects in each population of a component, by reference, as its scoring defines it; the numerator is within the denominator. */
interface Sets {
  readonly initial: ReadonlySet<string>
  readonly denominator: ReadonlySet<string>
  readonly excluded: ReadonlySet<string>
  readonly excepted: ReadonlySet<string>
  readonly numerator: ReadonlySet<string>
  readonly numeratorExcluded: ReadonlySet<string>
}

/** A population of the composite: its count and, if each member counts once, its members. */
interface CompositePopulation {
  readonly kind: string
  readonly count: number
  readonly members?: ReadonlySet<string>
}

interface Scored {
  readonly populations: readonly CompositePopulation[]
  /** `undefined` when the denominator is 0. */
  readonly score: number | undefined
}

/**
 * The group of a composite measure, from the counts of its components.
 *
 * The counts have members except for the method `weighted`; `listed` says whether the members of the composite are requested.
 *
 * @see https://hl7.org/fhir/uv/cqm/composite-measures.html
 */
export async function compositeGroup(
  ctx: OperationContext,
  { composite, counts: all, listed }: { readonly composite: Composite; readonly counts: Counts; readonly listed: boolean },
): Promise<EvaluatedGroup> {
  const { components, method, head } = composite
  const counts = components.map(({ group }) => all.groups.get(group) ?? NO_COUNTS)
  const notation = conceptOf(head.improvementNotation)
  const { populations, score } =
    method === 'weighted' ? weighted(components, counts) : await byIndividuals(ctx, { components, method, counts })
  return {
    ...headOf(head),
    ...(notation !== undefined && { improvementNotation: notation }),
    populations: populations.map((one) => reported(one, listed)),
    ...(score !== undefined && { score }),
    stratifiers: [],
  }
}

const KINDS = 'http://terminology.hl7.org/CodeSystem/measure-population'

function reported({ kind, count, members }: CompositePopulation, listed: boolean): EvaluatedPopulation {
  return { code: { coding: [{ system: KINDS, code: kind }] }, count, ...(listed && members !== undefined && { members: [...members] }) }
}

function setsOf({ group: { populations } }: Component, counts: GroupCounts | undefined): Sets {
  const of = (kind: string): ReadonlySet<string> =>
    new Set(populations.flatMap(({ kinds }, index) => (kinds.includes(kind) ? (counts?.populations[index]?.members ?? []) : [])))
  const denominator = of('denominator')
  const excluded = of('denominator-exclusion')
  const numerator = of('numerator').intersection(denominator).difference(excluded)
  return {
    initial: of('initial-population'),
    denominator,
    excluded,
    excepted: of('denominator-exception'),
    numerator,
    numeratorExcluded: of('numerator-exclusion').intersection(numerator),
  }
}

type ComponentSets = Sets & { readonly isDecreasing: boolean }

/** The subjects that count in the denominator of a component. */
function eligible({ denominator, excluded, excepted }: Sets): ReadonlySet<string> {
  return denominator.difference(excluded).difference(excepted)
}

/** The subjects for whom a component is fulfilled: the numerator or, if less is better, the rest of the denominator. */
function fulfilled(sets: ComponentSets): ReadonlySet<string> {
  const credited = sets.numerator.difference(sets.numeratorExcluded)
  return sets.isDecreasing ? eligible(sets).difference(credited) : credited
}

type IndividualMethod = Exclude<CompositeMethod, 'weighted'>

interface Individuals {
  readonly components: readonly Component[]
  readonly method: IndividualMethod
  readonly counts: readonly GroupCounts[]
}

const METHODS: Readonly<Record<IndividualMethod, (components: readonly ComponentSets[], pace: Pace) => Scored | Promise<Scored>>> = {
  opportunity,
  'all-or-nothing': allOrNothing,
  linear,
}

async function byIndividuals(ctx: OperationContext, { components, method, counts }: Individuals): Promise<Scored> {
  const pace = createPace(ctx)
  const sets: ComponentSets[] = []
  for (const [index, component] of components.entries()) {
    sets.push({ ...setsOf(component, counts[index]), isDecreasing: component.isDecreasing })
    pace.check()
    await pace.step()
  }
  return METHODS[method](sets, pace)
}

/** A proportion of cases; each subject is a case in each component. */
function opportunity(components: readonly ComponentSets[]): Scored {
  const cases = (of: (sets: ComponentSets) => ReadonlySet<string>): number => components.reduce((sum, sets) => sum + of(sets).size, 0)
  return proportion([
    { kind: 'initial-population', count: cases(({ initial }) => initial) },
    { kind: 'denominator', count: cases(({ denominator }) => denominator) },
    { kind: 'denominator-exclusion', count: cases(({ excluded }) => excluded) },
    { kind: 'numerator', count: cases((sets) => (sets.isDecreasing ? fulfilled(sets) : sets.numerator)) },
    { kind: 'numerator-exclusion', count: cases((sets) => (sets.isDecreasing ? new Set() : sets.numeratorExcluded)) },
    { kind: 'denominator-exception', count: cases(({ excepted }) => excepted) },
  ])
}

/** A proportion of subjects. A subject is in the numerator if it is in that of every component whose denominator it is in. */
function allOrNothing(components: readonly ComponentSets[]): Scored {
  const denominator = union(components, (sets) => sets.denominator)
  const excluded = union(components, (sets) => sets.excluded)
  const wanting = union(components, (sets) => eligible(sets).difference(sets.numerator))
  const numerator = union(components, eligible).difference(excluded).difference(wanting)
  const excepted = union(components, (sets) => sets.excepted)
    .difference(excluded)
    .difference(numerator)
  return proportion([
    counted(
      'initial-population',
      union(components, (sets) => sets.initial),
    ),
    counted('denominator', denominator),
    counted('denominator-exclusion', excluded),
    counted('numerator', numerator),
    counted('numerator-exclusion', union(components, (sets) => sets.numeratorExcluded).intersection(numerator)),
    counted('denominator-exception', excepted),
  ])
}

/** The average, over subjects, of the fraction of their components that was fulfilled. */
async function linear(components: readonly ComponentSets[], pace: Pace): Promise<Scored> {
  const population = union(components, (sets) => sets.denominator)
  const excluded = components.map((sets) => sets.excluded).reduce((common, one) => common.intersection(one))
  const sets = components.map((one) => ({ eligible: eligible(one), fulfilled: fulfilled(one) }))
  const observations: number[] = []
  for (const subject of population.difference(excluded)) {
    await pace.step()
    const below = sets.filter((one) => one.eligible.has(subject)).length
    if (below > 0) observations.push(sets.filter((one) => one.fulfilled.has(subject)).length / below)
  }
  // Summing in ascending order makes the result independent of the order of subjects.
  const sum = observations.toSorted((one, other) => one - other).reduce((total, one) => total + one, 0)
  return {
    populations: [
      counted(
        'initial-population',
        union(components, ({ initial }) => initial),
      ),
      counted('measure-population', population),
      counted('measure-population-exclusion', excluded),
      { kind: 'measure-observation', count: observations.length },
    ],
    score: observations.length === 0 ? undefined : sum / observations.length,
  }
}

/** The weighted average of the components' scores; `undefined` when a component with a weight above 0 has no score. */
function weighted(components: readonly Component[], counts: readonly GroupCounts[]): Scored {
  let [sum, weights] = [0, 0]
  for (const [index, { group, weight }] of components.entries()) {
    if (weight === 0) continue
    const { score: observed, populations = [] } = counts[index] ?? {}
    const score =
      observed ??
      scoreOf(
        group,
        group.populations.map((_, at) => populations[at]?.count ?? 0),
      )
    if (score === undefined) return { populations: [], score: undefined }
    sum += score * weight
    weights += weight
  }
  return { populations: [], score: sum / weights }
}

function proportion(populations: readonly CompositePopulation[]): Scored {
  const plan = { scoring: 'proportion', populations: populations.map(({ kind }) => ({ kinds: [kind] })) }
  return {
    populations,
    score: scoreOf(
      plan,
      populations.map(({ count }) => count),
    ),
  }
}

function counted(kind: string, members: ReadonlySet<string>): CompositePopulation {
  return { kind, count: members.size, members }
}

function union(components: readonly ComponentSets[], of: (sets: ComponentSets) => ReadonlySet<string>): ReadonlySet<string> {
  return new Set(components.flatMap((sets) => [...of(sets)]))
}
