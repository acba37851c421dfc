import { OperationError } from 'fhir-ops/errors'
import {
  type GroupPlan,
  type Population,
  membershipsOf,
  stratumKey,
  type Amount,
  type Membership,
  type Observed,
  type SubjectResult,
  type StratumValue,
  type StrataOfMembers,
} from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { FHIR_HELPERS, type HelperContext } from '../model/fhir-helpers.js'
import { referenceOf } from '../model/fhir-types.js'
import { systemValueOf } from '../model/property.js'
import { writingSteps } from '../values/size.js'
import { decimalOf, isUncertain } from '../values/compare.js'
import { numberOf } from '../values/decimal.js'
import { literalText } from '../values/text.js'
import { ucumUnit } from '../values/units.js'
import { isFhir, isQuantity, type FhirElement, type Value, isList } from '../values/value.js'
import { compiledCriterion, valueFor, type CompiledCriterion } from './criterion.js'
import { itemsFor, NO_ITEMS, type Items, keyOf, keyOfSubject, truthOf } from './items.js'
import type { Prepared } from './prepare.js'
import { evidenceValues, stratumValueOf } from './values.js'
import { quoted } from 'fhir-ops/internal/errors'

/** A group with compiled criteria. */
export interface CompiledGroup {
  readonly memberships: readonly Membership[]
  readonly populations: readonly CompiledCriterion[]
  /** Supporting evidence of each population. */
  readonly evidence: readonly (readonly CompiledCriterion[])[]
  readonly stratifiers: readonly CompiledStratifier[]
  readonly prepared: Prepared
}

/**
 * Compiles the criteria of a group.
 *
 * @throws {OperationError} as `membershipsOf` and `compiledCriterion`; `definition-invalid` for observations that do not take the counted items, and for
 *   populations that take an item.
 */
export function compileGroup(group: GroupPlan, prepared: Prepared): CompiledGroup {
  const memberships = membershipsOf(group, 'allowed')
  const populations = group.populations.map((population) => compiledCriterion(population, prepared))
  for (const [index, { observed }] of memberships.entries())
    if (observed === undefined) checkDefinition(populations[index], group.populations[index])
    else checkObservation(populations[index])
  return {
    memberships,
    prepared,
    populations,
    evidence: group.populations.map(({ evidence = [] }) => evidence.map((one) => compiledCriterion(one, prepared))),
    stratifiers: group.stratifiers.map(({ criteria, byComponents }) => ({
      byComponents,
      criteria: criteria.map((criterion) => compiledCriterion(criterion, prepared)),
    })),
  }
}

/** Checks that a population is not a function of an item, which has no value for a subject. */
function checkDefinition(compiled: CompiledCriterion | undefined, population: Population | undefined): void {
  if (compiled === undefined || population === undefined || compiled.ofSubject !== undefined) return
  throw new OperationError(
    'definition-invalid',
    `${population.place} names a function with an operand; only observations and stratifiers are functions.`,
    {
      expression: [`${population.path}.criteria.expression`],
    },
  )
}

/** Checks that an observation of items is a function with one operand; only observations of subjects need none (Quality Measure IG, CR 3.14). */
function checkObservation(observation: CompiledCriterion | undefined): void {
  if (observation?.basis === undefined || observation.basis === 'boolean' || observation.ofItem !== undefined) return
  throw new OperationError(
    'definition-invalid',
    `${observation.place} must be a function of one ${observation.basis}, since that is what is counted.`,
  )
}

/** Options of `subjectResult`. */
interface ResultOptions {
  /** Whether supporting evidence is reported. */
  readonly individual: boolean
  /** Whether to evaluate also criteria that do not affect the result, for explanations and coverage. */
  readonly everything?: boolean | undefined
}

/**
 * Evaluates one subject for a group. If it is not in a population, the populations within that one and their exclusions are not evaluated: a numerator is
 * evaluated only for subjects in the denominator (Quality Measure IG, measure scoring).
 */
export function subjectResult(group: CompiledGroup, evaluation: Evaluation, { individual, everything }: ResultOptions): SubjectResult {
  const { memberships, populations, prepared } = group
  const sets: (Items | undefined)[] = []
  const itemsIn = itemsFor(evaluation, prepared)
  const setOf = (index: number): Items => {
    const population = memberships[index]?.observed === undefined ? populations[index] : undefined
    return (sets[index] ??= population === undefined ? NO_ITEMS : itemsIn(population))
  }
  const members = memberships.map((membership) => membersOf(membership, setOf))
  if (everything === true) failuresOf(group, evaluation)
  const observations = memberships.map((membership, index) =>
    membership.observed === undefined ? [] : observed(populations[index], { membership, members, sets, helpers: prepared }, evaluation),
  )
  const strata = group.stratifiers.map((stratifier) => strataOf(stratifier, { members, sets, group }, evaluation))
  const evidence = individual ? group.evidence.map((all) => all.map((one) => evidenceValues(one, evaluation, prepared.model))) : undefined
  return { members, observations, strata, ...(evidence !== undefined && { evidence }) }
}

/** For each population, the message of the failure of its evaluation; `undefined` if it succeeds. */
export function failuresOf({ populations }: CompiledGroup, evaluation: Evaluation): readonly (string | undefined)[] {
  return populations.map(({ ofSubject }) => failureOf(() => ofSubject?.(evaluation)))
}

/** The message of a run-time error of CQL; `undefined` if there is none. */
export function failureOf(evaluate: () => unknown): string | undefined {
  try {
    evaluate()
    return undefined
  } catch (error) {
    if (error instanceof OperationError && (error.code === 'unprocessable' || error.code === 'definition-invalid')) return error.message
    throw error
  }
}

const NOBODY: readonly string[] = []

/** The items in every set that a membership requires, the widest first, and in none of those that it excludes. */
function membersOf({ all, none }: Membership, setOf: (index: number) => Items): readonly string[] {
  const widest = all[0] === undefined ? NO_ITEMS : setOf(all[0])
  if (widest.size === 0) return NOBODY
  let keys: readonly string[] = [...widest.keys()]
  for (const index of all) {
    const items = setOf(index)
    if (items !== widest) keys = keys.filter((key) => items.has(key))
    if (keys.length === 0) return NOBODY
  }
  for (const index of none) {
    const items = setOf(index)
    if (items.size > 0) keys = keys.filter((key) => !items.has(key))
    if (keys.length === 0) return NOBODY
  }
  return keys
}

interface Members {
  readonly members: readonly (readonly string[])[]
  readonly sets: readonly (Items | undefined)[]
  readonly helpers: HelperContext
}

/** The observations of the members of the observed population that are not excluded. */
function observed(
  population: CompiledCriterion | undefined,
  { membership, members, sets, helpers }: Members & { readonly membership: Membership },
  evaluation: Evaluation,
): readonly Observed[] {
  const index = membership.observed ?? -1
  const excluded = new Set(membership.none.flatMap((none) => members[none] ?? []))
  return (members[index] ?? []).flatMap((member) => {
    if (excluded.has(member) || population === undefined) return []
    const value = valueFor(population, sets[index]?.get(member) ?? null, evaluation)
    return value === null ? [] : amountsOf(value, population, helpers).map((amount) => ({ member, value: amount }))
  })
}

/**
 * The observed number or amount. An element without a value does not count.
 *
 * @throws {OperationError} `definition-invalid` for a value that is not a number.
 */
function amountsOf(value: Value, { place }: CompiledCriterion, helpers: HelperContext): readonly Amount[] {
  const plain = value !== null && isFhir(value) ? plainAmount(value, helpers) : value
  if (plain === null) return []
  if (isQuantity(plain)) return [amountIn(numberOf(plain.value), ucumUnit(plain.unit))]
  const amount = decimalOf(plain)
  if (amount !== undefined) return [numberOf(amount)]
  if (isUncertain(plain))
    throw new OperationError('unprocessable', `${place} gives a number that is not known exactly, but to be in ${literalText(plain)}.`)
  throw new OperationError('definition-invalid', `${place} gives a value that is neither a number nor a quantity.`)
}

function amountIn(value: number, unit: string): Amount {
  return unit === '1' || unit === '' ? value : { value, unit }
}

function plainAmount(value: FhirElement, helpers: HelperContext): Value {
  if (value.type.name === 'Quantity') return FHIR_HELPERS['ToQuantity']?.(value, helpers) ?? null
  const plain = systemValueOf(value, helpers.offset)
  return plain === undefined ? value : plain
}

/** A stratifier with compiled criteria. */
interface CompiledStratifier {
  readonly criteria: readonly CompiledCriterion[]
  readonly byComponents: boolean
}

/** The group that is divided. */
interface Group {
  readonly memberships: readonly Membership[]
  readonly prepared: Prepared
}

interface Divided {
  readonly members: readonly (readonly string[])[]
  readonly sets: readonly (Items | undefined)[]
  readonly group: Group
}

/**
 * The strata of the members of a subject: of the criterion if it lists counted items, otherwise of each value.
 *
 * @throws {OperationError} `definition-invalid` for resources if subjects are counted, and for values that cannot name a stratum.
 */
function strataOf(stratifier: CompiledStratifier, divided: Divided, evaluation: Evaluation): StrataOfMembers {
  const [only] = stratifier.criteria
  const satisfied = stratifier.byComponents || only === undefined ? undefined : strataOfCriterion(only, evaluation, divided.group)
  return satisfied ?? strataByValues(stratifier, divided, evaluation)
}

/** The stratum of the members that satisfy a criterion that returns counted items (Quality Measure IG, CR 3.17); `undefined` if it returns values. */
function strataOfCriterion(
  criterion: CompiledCriterion,
  evaluation: Evaluation,
  { prepared }: Pick<Group, 'prepared'>,
): StrataOfMembers | undefined {
  if (criterion.ofItem !== undefined) return undefined
  const whole = criterion.ofSubject?.(evaluation) ?? null
  const truth = truthOf(whole, prepared)
  if (criterion.basis === 'boolean' && (truth !== undefined || (whole === null && criterion.isTruth === true)))
    return new Map([['', { values: undefined, isIn: () => truth === true }]])
  if (criterion.listsItems === true) return strataOfItems(whole, evaluation)
  const items = criterion.listsValues === true ? undefined : resourcesIn(whole)
  return items === undefined ? undefined : strataOfResources(items, criterion, prepared)
}

/** A stratum for each value, or combination of values, of the members. */
function strataByValues({ criteria }: CompiledStratifier, { members, sets, group }: Divided, evaluation: Evaluation): StrataOfMembers {
  const all = new Map(
    members.flatMap((keys, index) => keys.map((key) => [key, sets[group.memberships[index]?.all[0] ?? index]?.get(key) ?? null] as const)),
  )
  const strata = new Map<string, { values: readonly StratumValue[]; members: Set<string> }>()
  for (const [key, item] of all)
    for (const values of combinations(criteria, item, { evaluation, group })) {
      const name = JSON.stringify(values.map(({ concept }) => stratumKey({ concept })))
      const known = strata.get(name) ?? { values, members: new Set<string>() }
      known.members.add(key)
      strata.set(name, known)
    }
  return new Map([...strata].map(([name, { values, members: inside }]) => [name, { values, isIn: (member: string) => inside.has(member) }]))
}

/** The stratum of the members in a list of resources. */
function strataOfResources(items: readonly FhirElement[], { basis, place }: CompiledCriterion, { model }: Prepared): StrataOfMembers {
  // If subjects are counted, an empty list has no values, so the subject is in no stratum.
  if (basis === 'boolean' && items.length === 0) return new Map()
  if (basis === 'boolean')
    throw new OperationError('definition-invalid', `${place} gives resources, while subjects are counted (basis 'boolean').`)
  const other = model.type(basis ?? '')?.kind === 'resource' ? items.find(({ type }) => type.name !== basis) : undefined
  if (other !== undefined)
    throw new OperationError('definition-invalid', `${place} gives ${other.type.name}, while its basis is ${quoted(basis ?? '')}.`)
  const references = new Set(items.map(referenceOf))
  return new Map([['', { values: undefined, isIn: (member: string) => references.has(member) }]])
}

/** The stratum of the items of a list, which are counted items. */
function strataOfItems(whole: Value, evaluation: Evaluation): StrataOfMembers {
  const own = keyOfSubject(evaluation.subject)
  const keys = new Set((isList(whole) ? whole : []).flatMap((item) => (item === null ? [] : [keyOf(item, own, evaluation)])))
  return new Map([['', { values: undefined, isIn: (member: string) => keys.has(member) }]])
}

/** The resources of a list, or the only one; `undefined` for any other value. */
function resourcesIn(value: Value): readonly FhirElement[] | undefined {
  const items = isList(value) ? value : [value]
  const resources = items.flatMap((item) => (item !== null && isFhir(item) && item.type.kind === 'resource' ? [item] : []))
  return resources.length === items.length ? resources : undefined
}

/** The combinations of a member's values, one for each criterion. A criterion that returns a list puts the member into a stratum for each of its values. */
function combinations(
  criteria: readonly CompiledCriterion[],
  item: Value,
  { evaluation, group }: { readonly evaluation: Evaluation; readonly group: Group },
): readonly (readonly StratumValue[])[] {
  return criteria.reduce<readonly (readonly StratumValue[])[]>(
    (lists, criterion) => {
      const value = valueFor(criterion, item, evaluation)
      const values = (isList(value) ? value : [value]).map((one) => {
        evaluation.spend(writingSteps(one))
        return strataValue(one, criterion, group)
      })
      evaluation.spend(lists.length * values.length)
      return lists.flatMap((list) => values.map((one) => [...list, one]))
    },
    [[]],
  )
}

function strataValue(value: Value, { place }: CompiledCriterion, { prepared: { offset, model } }: Group): StratumValue {
  const made = stratumValueOf(value, { model, offset })
  if (made === undefined) throw new OperationError('definition-invalid', `${place} gives a value that cannot name a stratum.`)
  return made
}
