import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { StratumValue, Membership, StrataOfMembers } from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { isFhir, isList, type FhirElement, type Value } from '../values/value.js'
import { valueFor, type CompiledCriterion } from './criterion.js'
import { keyOf, keyOfSubject, referenceOf, truthOf, type Items } from './items.js'
import type { Prepared } from './prepare.js'
import { stratumKey, stratumValueOf } from './values.js'

/** A stratifier with compiled criteria. */
export interface CompiledStratifier {
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
export function strataOf(stratifier: CompiledStratifier, divided: Divided, evaluation: Evaluation): StrataOfMembers {
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
function strataOfItems(whole: Value, { subject }: Evaluation): StrataOfMembers {
  const own = keyOfSubject(subject)
  const keys = new Set((isList(whole) ? whole : []).flatMap((item) => (item === null ? [] : [keyOf(item, own)])))
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
      const values = (isList(value) ? value : [value]).map((one) => strataValue(one, criterion, group))
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
