import { PENDING, type ElementSlot, type TypeDefinition } from '../../fhirpath/index.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { TYPE_URL, type ElementRule } from '../run/element-rule.js'
import { isNested, type MetTest, type Plan, type PlannedMember, type PossibleLook, type Run, type ValueLook } from '../run/run.js'

/** How to look at the values of a member; `undefined` while the definition of their type has yet to be fetched. */
export function lookAt(run: Run, { type: parent }: Plan, { slot, rules }: PlannedMember): ValueLook | undefined {
  const type = run.model.type(slot.type)
  if (type === undefined || type.kind === 'resource' || type.name === 'Extension' || !rules.every((rule) => allows(rule, slot)))
    return 'never'
  const ofType = rulesOfType(run, type, rules)
  if (typeof ofType !== 'object') return ofType
  const all = [...rules, ...ofType]
  const isPrimitive = type.kind === 'primitive'
  const whens = whensOf(run, { parent, slot, type, rules: all })
  const demands = metTests(run, all, type)
  if (whens === undefined || demands === undefined || (isPrimitive && all.some((rule) => asksForMembers(rule, type)))) return 'never'
  return {
    type,
    min: Math.max(0, ...rules.map(({ min }) => min)),
    max: Math.min(Infinity, ...rules.map(({ max }) => max)),
    whens,
    demands,
    form: isPrimitive ? primitiveCheck(type.name) : undefined,
    plan: isPrimitive ? undefined : run.plans.of(type, all),
  }
}

/** What holds for all values of a type, and for those that FHIR's own types take, such as SimpleQuantity. */
function rulesOfType(run: Run, type: TypeDefinition, rules: readonly ElementRule[]): readonly ElementRule[] | 'never' | undefined {
  if (isNested(type)) return []
  const profiles = rules.flatMap(({ types }) => types.flatMap((one) => (one.code === type.name ? one.profiles : [])))
  const names = [type.name, ...profiles.map((canonical) => canonical.slice(TYPE_URL.length))]
  const roots: ElementRule[] = []
  for (const name of names) {
    const definition = run.definitions.baseType(name)
    if (definition === PENDING || definition === undefined) return undefined
    if (definition.type !== type.name || definition.base !== undefined) return 'never'
    roots.push(definition.root)
  }
  return roots
}

interface TypedSlot {
  readonly parent: TypeDefinition
  readonly slot: ElementSlot
  readonly type: TypeDefinition
  readonly rules: readonly ElementRule[]
}

/** Whether there are further rules inside a primitive: on its extensions. Its value is not a member. */
function asksForMembers({ required, slices, types }: ElementRule, { elements }: TypeDefinition): boolean {
  return slices.length > 0 || required.some(({ name }) => elements.has(name)) || types.some(({ profiles }) => profiles.length > 0)
}

/** `undefined` where a rule looks at every value. */
function whensOf({ rules: book }: Run, { parent, slot, type, rules }: TypedSlot): PossibleLook['whens'] | undefined {
  const own = [...book.onType(type.name), ...(book.hasElementRules ? book.onElement(parent.name, slot.name) : [])]
  if (own.some(({ when, needs }) => when === undefined && needs === undefined)) return undefined
  return own.flatMap(({ when }) => when?.({ parent, rules }) ?? [])
}

/** `undefined` where a rule is checked on nodes only. */
function metTests({ rules: book }: Run, rules: readonly ElementRule[], type: TypeDefinition): readonly MetTest[] | undefined {
  const tests: MetTest[] = []
  for (const rule of rules) {
    for (const name of rule.demands) {
      const demand = book.demand(name)
      if (demand === undefined) continue
      if (demand.metTest === undefined) return undefined
      tests.push(demand.metTest(rule, type))
    }
  }
  return tests
}

/** Whether a rule takes the values of a slot as they are: without slices and profiles, of which the value decides, but for the one of FHIR's own types. */
function allows({ isBase, types, slices }: ElementRule, { isChoice, type }: { isChoice: boolean; type: string }): boolean {
  if (slices.length > 0 || types.some(({ profiles }) => profiles.length > 0 && !(isBase && isOwn(profiles)))) return false
  return !isChoice || isBase || types.length === 0 || types.some(({ code }) => code === type)
}

function isOwn([only, ...others]: readonly string[]): boolean {
  return only?.startsWith(TYPE_URL) === true && !/[|#]/.test(only) && others.length === 0
}
