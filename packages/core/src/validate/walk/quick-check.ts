import { PENDING, type ElementSlot, type FhirNode, type TypeDefinition } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { TYPE_URL, type ElementRule } from '../run/element-rule.js'
import { isNested, type MetTest, type Plan, type PlannedMember, type QuickCheck, type QuickCheckState, type Run } from '../run/run.js'

/** Maximum number of values in one quick check. Larger members are left to the walk, which lets other requests run. */
const MAX_VALUES = 1_000
/** Maximum length of a list in a quick check; longer ones are scheduled as separate work. */
const MAX_ITEMS = 50

/** Creates the state of the quick checks of one walk. */
export function quickCheckState(root: FhirNode): QuickCheckState {
  return { within: root, left: 0, failed: new Set() }
}

/**
 * Whether no rule has anything to report about a member and its content, so that it needs no node. For most members, the JSON shows this (bench
 * `validate`). The rules themselves decide: those on types and elements by `when` and `needs`, those on ElementDefinitions by `metTest`. Also false
 * when only a visit can decide: elements with an id or extensions, resources in resources, slices, profiles on types.
 */
export function memberPasses(run: Run, { node, plan, holder, hasSiblings }: NodeMembers, member: PlannedMember): boolean {
  if (member.quickCheck === 'never' || (hasSiblings && Object.hasOwn(holder, member.slot.siblingName))) return false
  run.quickCheck.within = node
  run.quickCheck.left = MAX_VALUES
  const check = checkOf(run, plan, member)
  return check !== undefined && valuesPass(run, check, holder, holder[member.slot.jsonName])
}

/** Like `memberPasses`, for one of several nodes of an element without slices. */
export function nodePasses(run: Run, { parent, value, extra, slot, index }: FhirNode, check: QuickCheck): boolean {
  if (parent === undefined || slot === undefined || value === undefined || extra !== undefined || !isObject(parent.value)) return false
  const list = parent.value[slot.jsonName]
  if (!Array.isArray(list)) return false
  run.quickCheck.within = parent
  run.quickCheck.left = MAX_VALUES
  return valuePasses(run, check, value, numberTextIn(run, value, list, index))
}

/** The members of a node that are checked, with the node's plan. */
export interface NodeMembers {
  readonly node: FhirNode
  readonly plan: Plan
  /** The JSON object with the members: the node's value or, for a primitive, the object next to its value. */
  readonly holder: JsonObject
  /** True when some members are siblings of primitive values: `_name`. */
  readonly hasSiblings: boolean
}

/** `undefined` where only a visit can decide. */
function checkOf(run: Run, plan: Plan, member: PlannedMember): QuickCheck | undefined {
  const check = (member.quickCheck ??= quickCheckOf(run, plan, member))
  return check === 'never' ? undefined : check
}

/** @param value The member's value in the holder. */
function valuesPass(run: Run, check: QuickCheck, holder: JsonObject, value: unknown): boolean {
  const { slot, min, max } = check
  if (!slot.isCollection) return min <= 1 && max >= 1 && valuePasses(run, check, value, numberTextIn(run, value, holder, slot.jsonName))
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ITEMS) return false
  if (value.length < min || value.length > max) return false
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index]
    if (!valuePasses(run, check, item, numberTextIn(run, item, value, index))) return false
  }
  return true
}

/** A number as it was written; `''` for all else. */
function numberTextIn(run: Run, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (run.numberText(holder, key) ?? String(value)) : ''
}

function valuePasses(run: Run, check: QuickCheck, value: unknown, source: string): boolean {
  const { plan, form } = check
  if (--run.quickCheck.left <= 0) return false
  if (plan !== undefined) return isObject(value) && objectPasses(run, check, plan, value)
  if (typeof value === 'object' || !rulesPass(run, check, value)) return false
  return !run.checksTypes || form?.(value, source, run.now) === undefined
}

function rulesPass(run: Run, { whens, demands }: QuickCheck, value: unknown): boolean {
  if (run.checksTypes) for (const when of whens) if (when(value, run)) return false
  for (const isMet of demands) if (!isMet(value, run)) return false
  return true
}

function objectPasses(run: Run, check: QuickCheck, plan: Plan, value: JsonObject): boolean {
  if (run.quickCheck.failed.size > 0 && run.quickCheck.failed.has(value)) return false
  run.scheduler.step()
  if (membersPass(run, plan, value) && rulesPass(run, check, value)) return true
  if (run.quickCheck.left > 0) run.quickCheck.failed.add(value)
  return false
}

/**
 * Whether all members pass and all required ones are present. Siblings with an id or extensions do not pass, because the type has no member of their name.
 * `for in` reads the values without a lookup by name (bench `validate`).
 */
function membersPass(run: Run, plan: Plan, holder: JsonObject): boolean {
  let count = 0
  let required = 0
  let hasChoice = false
  for (const name in holder) {
    if (!Object.hasOwn(holder, name)) continue
    const member = plan.members.get(name) ?? plan.member(name)
    const check = member === undefined || member.isNeeded ? undefined : checkOf(run, plan, member)
    if (member === undefined || check === undefined || !valuesPass(run, check, holder, holder[name])) return false
    count++
    if (member.isRequired) required++
    if (!check.slot.isChoice) continue
    // If there are two choice members, even of different choices, a visit decides.
    if (hasChoice) return false
    hasChoice = true
  }
  return count > 0 && required === plan.requiredElements
}

/** Creates the quick check of a member's values: `never` when only a visit can decide, `undefined` while the definition of their type is pending. */
function quickCheckOf(run: Run, { type: parent }: Plan, { slot, rules }: PlannedMember): QuickCheck | 'never' | undefined {
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
    slot,
    min: Math.max(0, ...rules.map(({ min }) => min)),
    max: Math.min(Infinity, ...rules.map(({ max }) => max)),
    whens,
    demands,
    form: isPrimitive ? primitiveCheck(type.name) : undefined,
    plan: isPrimitive ? undefined : run.plans.of(type, all),
  }
}

/** The rules for all values of a type, and of FHIR's own profiles that the rules name, such as SimpleQuantity. */
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

/** Whether a rule requires something of the members of a primitive, such as its extensions. Its value is not a member. */
function asksForMembers({ required, slices, types }: ElementRule, { elements }: TypeDefinition): boolean {
  return slices.length > 0 || required.some(({ name }) => elements.has(name)) || types.some(({ profiles }) => profiles.length > 0)
}

/** `undefined` when a rule must check every value. */
function whensOf({ rules: book }: Run, { parent, slot, type, rules }: TypedSlot): QuickCheck['whens'] | undefined {
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
      const test = demand.metTest(rule, type)
      if (test !== undefined) tests.push(test)
    }
  }
  return tests
}

/** Whether a rule applies alike to all values of a slot: it has no slices and profiles, which depend on the value, except one profile of FHIR's own types. */
function allows({ isBase, types, slices }: ElementRule, { isChoice, type }: { isChoice: boolean; type: string }): boolean {
  if (slices.length > 0 || types.some(({ profiles }) => profiles.length > 0 && !(isBase && isOwn(profiles)))) return false
  return !isChoice || isBase || types.length === 0 || types.some(({ code }) => code === type)
}

function isOwn([only, ...others]: readonly string[]): boolean {
  return only?.startsWith(TYPE_URL) === true && !/[|#]/.test(only) && others.length === 0
}
