import { PENDING, type ElementSlot, type FhirNode, type TypeDefinition } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import type { ElementRule } from '../run/element-rule.js'
import {
  isNested,
  type Look,
  type MetTest,
  type Plan,
  type PlannedMember,
  type PossibleLook,
  type Run,
  type ValueLook,
} from '../run/run.js'

/** Values of one look. What has more is left to the walk, which lets other requests run. */
const VALUES_OF_A_LOOK = 1_000
/** Items of a list that are looked at; longer lists are work of their own. */
const MOST_ITEMS = 50

/** Makes the state of looks. */
export function createLook(home: FhirNode): Look {
  return { home, left: 0, flawed: new Set() }
}

/**
 * Whether no rule has anything to report about a member and all that is in it, so that no node need be made for it; of most members that can be seen
 * from their JSON (bench `validate`). The rules themselves decide: those on types and elements by `when` and `needs`, those on ElementDefinitions by
 * `metTest`. False also where only a visit can decide: identified and extended elements, resources in resources, slices, profiles on types.
 *
 * @param home The node that the member is in.
 */
export function isPlainMember(run: Run, home: FhirNode, { plan, holder, member }: HeldMember): boolean {
  if (member.look === 'never' || Object.hasOwn(holder, member.slot.siblingName)) return false
  run.look.home = home
  run.look.left = VALUES_OF_A_LOOK
  return isPlain(run, plan, holder, member)
}

/** The same for one of several nodes of an element, each of which is in no slice. */
export function isPlainNode(run: Run, { parent, value, extra, slot, index }: FhirNode, look: PossibleLook): boolean {
  if (parent === undefined || slot === undefined || value === undefined || extra !== undefined || !isObject(parent.value)) return false
  const list = parent.value[slot.jsonName]
  if (!Array.isArray(list)) return false
  run.look.home = parent
  run.look.left = VALUES_OF_A_LOOK
  return isPlainValue(run, look, value, numberTextIn(run, value, list, index))
}

interface HeldMember {
  /** Of what the member is in. */
  readonly plan: Plan
  readonly holder: JsonObject
  readonly member: PlannedMember
}

function isPlain(run: Run, plan: Plan, holder: JsonObject, member: PlannedMember): boolean {
  const look = (member.look ??= lookAt(run, plan, member))
  const { jsonName, isCollection } = member.slot
  if (look === undefined || look === 'never') return false
  const value = holder[jsonName]
  if (!isCollection) return look.min <= 1 && look.max >= 1 && isPlainValue(run, look, value, numberTextIn(run, value, holder, jsonName))
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ITEMS) return false
  if (value.length < look.min || value.length > look.max) return false
  for (let index = 0; index < value.length; index++) {
    const item: unknown = value[index]
    if (!isPlainValue(run, look, item, numberTextIn(run, item, value, index))) return false
  }
  return true
}

/** A number as it was written; `''` for all else. */
function numberTextIn(run: Run, value: unknown, holder: object, key: string | number): string {
  return typeof value === 'number' ? (run.numberText(holder, key) ?? String(value)) : ''
}

function isPlainValue(run: Run, look: PossibleLook, value: unknown, source: string): boolean {
  const { plan, form } = look
  if (--run.look.left <= 0) return false
  if (plan !== undefined) return isObject(value) && isPlainObject(run, look, plan, value)
  if (typeof value === 'object' || !isUnremarkable(run, look, value)) return false
  return !run.checksTypes || form?.(value, source, run.now) === undefined
}

function isUnremarkable(run: Run, { whens, demands }: PossibleLook, value: unknown): boolean {
  if (run.checksTypes) for (const when of whens) if (when(value, run)) return false
  for (const isMet of demands) if (!isMet(value, run)) return false
  return true
}

function isPlainObject(run: Run, look: PossibleLook, plan: Plan, value: JsonObject): boolean {
  if (run.look.flawed.size > 0 && run.look.flawed.has(value)) return false
  run.scheduler.step()
  if (arePlain(run, plan, value) && isUnremarkable(run, look, value)) return true
  if (run.look.left > 0) run.look.flawed.add(value)
  return false
}

/** No member has a sibling with an id or extensions, of which the type has no member itself. */
function arePlain(run: Run, plan: Plan, holder: JsonObject): boolean {
  const names = Object.keys(holder)
  let required = 0
  let hasChoice = false
  for (const name of names) {
    const member = plan.members.get(name) ?? plan.member(name)
    if (member === undefined || member.isNeeded || !isPlain(run, plan, holder, member)) return false
    if (member.isRequired) required++
    if (!member.slot.isChoice) continue
    // Of two choices, whichever they are, a visit says more.
    if (hasChoice) return false
    hasChoice = true
  }
  return names.length > 0 && required === plan.requiredElements
}

/** How to look at the values of a member; `undefined` while the definition of their type has yet to be fetched. */
function lookAt(run: Run, { type: parent }: Plan, { slot, rules }: PlannedMember): ValueLook | undefined {
  const type = run.model.type(slot.type)
  if (type === undefined || type.kind === 'resource' || type.name === 'Extension' || !rules.every((rule) => allows(rule, slot)))
    return 'never'
  const base = isNested(type) ? NO_BASE : run.definitions.baseType(type.name)
  if (base === PENDING || base === undefined) return undefined
  const all = base === NO_BASE ? rules : [...rules, base.root]
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

/** In the place of the definition of a type for elements whose type has none of its own. */
const NO_BASE = 'nested'

interface TypedSlot {
  readonly parent: TypeDefinition
  readonly slot: ElementSlot
  readonly type: TypeDefinition
  readonly rules: readonly ElementRule[]
}

/** Whether there are further rules inside of a primitive: on its extensions. Its value is no member. */
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

/** Whether a rule takes the values of a slot as they are: without slices and profiles, of which the value decides. */
function allows({ isBase, types, slices }: ElementRule, { isChoice, type }: { isChoice: boolean; type: string }): boolean {
  if (slices.length > 0 || types.some(({ profiles }) => profiles.length > 0)) return false
  return !isChoice || isBase || types.length === 0 || types.some(({ code }) => code === type)
}
