import { OperationError, quoted } from '../errors/index.js'
import type { GroupPlan, Population } from './measure-plan.js'

/** The members of a population: those that satisfy every criterion of `all` and none of `none`. Both are indexes of populations of the group. */
export interface Membership {
  readonly all: readonly number[]
  readonly none: readonly number[]
  /** For observations: the population whose members are observed, without those in its exclusion; -1 when the Measure does not state it. */
  readonly observed?: number
}

/** The kinds of populations that a kind is within, and those that it excludes, in addition to its own criterion. */
interface Rule {
  readonly within: readonly string[]
  readonly without?: readonly string[]
  readonly required?: true
  /** Observations are counted, not members. */
  readonly observes?: true
}

const IP = 'initial-population'
const OBSERVATION = 'measure-observation'

/** The populations that each scoring allows (Quality Measure IG, CR 3.11). */
const SCORINGS: ReadonlyMap<string, ReadonlyMap<string, Rule>> = new Map([
  ['cohort', new Map<string, Rule>([[IP, { within: [], required: true }]])],
  [
    'proportion',
    new Map<string, Rule>([
      [IP, { within: [], required: true }],
      ['denominator', { within: [IP], required: true }],
      ['denominator-exclusion', { within: [IP, 'denominator'] }],
      ['numerator', { within: [IP, 'denominator'], without: ['denominator-exclusion'], required: true }],
      ['numerator-exclusion', { within: [IP, 'denominator', 'numerator'], without: ['denominator-exclusion'] }],
      ['denominator-exception', { within: [IP, 'denominator'], without: ['denominator-exclusion', 'numerator'] }],
    ]),
  ],
  [
    'ratio',
    new Map<string, Rule>([
      [IP, { within: [], required: true }],
      ['denominator', { within: [IP], required: true }],
      ['denominator-exclusion', { within: [IP, 'denominator'] }],
      ['numerator', { within: [IP], required: true }],
      ['numerator-exclusion', { within: [IP, 'numerator'] }],
      [OBSERVATION, { within: [], observes: true }],
    ]),
  ],
  [
    'continuous-variable',
    new Map<string, Rule>([
      [IP, { within: [], required: true }],
      ['measure-population', { within: [IP], required: true }],
      ['measure-population-exclusion', { within: [IP, 'measure-population'] }],
      [OBSERVATION, { within: [], observes: true }],
    ]),
  ],
])

/**
 * The definition of the members of each population of a group, in their order. Without scoring, populations are independent.
 *
 * @param observations Whether the language supports observations.
 * @throws {OperationError} `not-supported` for other scorings, and for observations if they are refused; `definition-required` when a population that the
 *   scoring needs, or the aggregate method of observations, is missing; `definition-invalid` for a population that the scoring does not allow, a repeated
 *   one, and a bad criteriaReference.
 */
export function membershipsOf(group: GroupPlan, observations: 'allowed' | 'refused' = 'refused'): readonly Membership[] {
  const { scoring, populations, path } = group
  if (scoring === undefined) return populations.map((_, index) => ({ all: [index], none: [] }))
  const rules = SCORINGS.get(scoring)
  if (rules === undefined) {
    throw new OperationError('not-supported', `Scoring ${quoted(scoring)} is not supported.`, { expression: [path] })
  }
  const kinds = populations.map((population) => kindOf(population, { rules, scoring, observations }))
  checkRequired(group, { kinds, rules })
  checkRepeated(group, kinds)
  const memberships = kinds.map((kind, index) => membership(group, { kinds, index, rule: rules.get(kind) ?? { within: [] } }))
  if (scoring === 'ratio') checkObservations(group, { kinds, memberships })
  return memberships
}

/** Checks that a ratio has no observations, or two: of its numerator and of its denominator. */
function checkObservations(
  { populations, path }: GroupPlan,
  { kinds, memberships }: { readonly kinds: readonly string[]; readonly memberships: readonly Membership[] },
): void {
  const sides = memberships.flatMap(({ observed }) => (observed === undefined ? [] : [kinds[observed] ?? 'none'])).toSorted()
  const isNamed = sides.some((side) => side !== 'none')
  if (sides.length === 0 || (sides.length === 2 && (!isNamed || sides.join(' ') === 'denominator numerator'))) return
  const first = populations[kinds.indexOf(OBSERVATION)]
  throw new OperationError('definition-invalid', 'A ratio has two observations: one of its numerator, one of its denominator.', {
    expression: [first?.path ?? path],
  })
}

function kindOf(
  population: Population,
  {
    rules,
    scoring,
    observations,
  }: { readonly rules: ReadonlyMap<string, Rule>; readonly scoring: string; readonly observations: 'allowed' | 'refused' },
): string {
  const kind = population.kinds.find((code) => rules.has(code))
  if (kind !== undefined && (kind !== OBSERVATION || observations === 'allowed')) return kind
  if (population.kinds.includes(OBSERVATION) && observations === 'refused') {
    throw new OperationError('not-supported', `${population.place}: observations are not supported.`, { expression: [population.path] })
  }
  throw invalid(population, `is not allowed in a measure with scoring ${quoted(scoring)}`)
}

function checkRequired(
  group: GroupPlan,
  { kinds, rules }: { readonly kinds: readonly string[]; readonly rules: ReadonlyMap<string, Rule> },
): void {
  const missing = [...rules].find(([kind, rule]) => rule.required && !kinds.includes(kind))
  if (missing === undefined) return
  throw new OperationError(
    'definition-required',
    `A group with scoring ${quoted(group.scoring ?? '')} needs a population '${missing[0]}'.`,
    {
      expression: [`${group.path}.population`],
    },
  )
}

/** Checks that kinds do not repeat. Only a ratio may have two initial populations, to which numerator and denominator refer, and two observations. */
function checkRepeated({ scoring, populations }: GroupPlan, kinds: readonly string[]): void {
  populations.forEach((population, index) => {
    const kind = kinds[index]
    const before = kinds.slice(0, index).filter((other) => other === kind).length
    if (before > (scoring === 'ratio' && (kind === IP || kind === OBSERVATION) ? 1 : 0))
      throw invalid(population, 'is of a kind that the group already has')
  })
}

interface Place {
  readonly kinds: readonly string[]
  readonly index: number
  readonly rule: Rule
}

/** The membership of observations. They are of the population that they refer to, or else of the measure population. */
function observation(group: GroupPlan, kinds: readonly string[], index: number): Membership {
  const own = group.populations[index]
  const reference = own?.criteriaReference
  const observed = reference === undefined ? kinds.indexOf('measure-population') : group.populations.findIndex(({ id }) => id === reference)
  // Older ratios do not state what is observed; they have counts only.
  if (reference === undefined && observed < 0) return { all: [], none: [], observed }
  const kind = kinds[observed]
  if (own === undefined || kind === undefined || !OBSERVABLE.has(kind))
    throw new OperationError('definition-invalid', `${own?.place ?? group.path} must refer to the population that is observed.`, {
      expression: [own?.path ?? group.path],
    })
  if (own.aggregateMethod === undefined)
    throw new OperationError('definition-required', `${own.place} does not say how its observations are aggregated.`, {
      expression: [own.path],
    })
  const exclusion = kinds.indexOf(`${kind}-exclusion`)
  return { all: [], none: exclusion < 0 ? [] : [exclusion], observed }
}

const OBSERVABLE: ReadonlySet<string> = new Set(['measure-population', 'numerator', 'denominator'])

function membership(group: GroupPlan, { kinds, index, rule }: Place): Membership {
  if (rule.observes) return observation(group, kinds, index)
  const within = rule.within.map((kind) => (kind === IP ? initialOf(group, { kinds, index }) : kinds.indexOf(kind)))
  const without = (rule.without ?? []).map((kind) => kinds.indexOf(kind)).filter((at) => at >= 0)
  return { all: [...within, index], none: without }
}

/** The initial population around a population: the only one, or the one that its side of the ratio refers to. */
function initialOf(group: GroupPlan, { kinds, index }: Pick<Place, 'kinds' | 'index'>): number {
  const initial = kinds.flatMap((kind, at) => (kind === IP ? [at] : []))
  const [only] = initial
  if (initial.length === 1 && only !== undefined) return only
  const side = kinds[index]?.startsWith('numerator') ? 'numerator' : 'denominator'
  const population = group.populations[kinds.indexOf(side)]
  const referred = initial.find(
    (at) => group.populations[at]?.id !== undefined && group.populations[at].id === population?.criteriaReference,
  )
  if (referred !== undefined) return referred
  throw new OperationError('definition-invalid', `The ${side} does not refer to one of the two initial populations.`, {
    expression: [population?.path ?? group.path],
  })
}

function invalid({ place, path }: Population, reason: string): OperationError {
  return new OperationError('definition-invalid', `${place} ${reason}.`, { expression: [path] })
}

/** An empty population, and what is known of the others. */
interface EmptyPopulation {
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
