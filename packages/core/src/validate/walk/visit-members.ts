import { PENDING, pushSlot, type ElementSlot, type FhirNode } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { boundList } from '../rules/codes/bound-codes.js'
import { primitiveCheck } from '../rules/primitive/check-primitive.js'
import { isCheckedByType } from '../rules/registry.js'
import { checkMissing } from '../rules/structure/cardinality.js'
import { checkShape, nullItems, reportUnknownProperty, type Member } from '../rules/structure/check-shape.js'
import type { ElementRule } from '../run/element-rule.js'
import type { Run } from '../run/run.js'
import { isFlawlessMember, type Shape } from './flawless.js'
import { visitElement } from './visit-element.js'

const UNDERSCORE = 95
/** A primitive value without id and extensions, which a profile can ask for. */
const NO_MEMBERS: JsonObject = {}

/** Checks the members of a complex node, or the id and extensions of a primitive one, in the order in which they stand. */
export function visitMembers(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const holder = isObject(node.value) ? node.value : (node.extra ?? NO_MEMBERS)
  checkMissing(run, { node, holder }, rules)
  if (holder !== NO_MEMBERS) visitAll(run, node, { holder, rules })
}

function visitAll(run: Run, node: FhirNode, { holder, rules }: { holder: JsonObject; rules: readonly ElementRule[] }): void {
  const shape = run.checks === 'structure' ? run.flawless.shapes.of(node.type.name, rules[0]) : undefined
  let choices: Map<string, ElementSlot> | undefined
  for (const key of Object.keys(holder)) {
    if (run.findings.isFull) return
    const slot = slotOf(run, node, { holder, key })
    if (slot?.isChoice === true) checkOnlyChoice(run, node, { slot, choices: (choices ??= new Map()) })
    if (slot !== undefined) visitMember(run, node, { slot, holder, shape, rules: rulesFor(slot, rules) })
  }
}

/** A member with what is said about it. */
interface RuledMember extends Member {
  /** Of the holder, where only the structure is checked. */
  readonly shape: Shape | undefined
  readonly rules: readonly ElementRule[]
}

function visitMember(run: Run, node: FhirNode, member: RuledMember): void {
  const { slot, holder, rules } = member
  if (isFine(run, member) || (run.isStructural && !checkShape(run, node, { slot, holder }))) return
  const nodes: FhirNode[] = []
  pushSlot(run.model, node, { slot, into: nodes })
  visitElement(run, { parent: node, slot, nodes, nulls: nullItems(run, { slot, holder }) }, rules)
}

function rulesFor({ name }: ElementSlot, rules: readonly ElementRule[]): readonly ElementRule[] {
  const own: ElementRule[] = []
  for (const { children } of rules) {
    const rule = children.get(name)
    if (rule !== undefined) own.push(rule)
  }
  return own
}

/** Whether a quick look shows that there is nothing to be said about a member. */
function isFine(run: Run, { slot, holder, shape, rules }: RuledMember): boolean {
  if (run.checks === 'all') return isPlainPrimitive(run, { slot, holder }, rules)
  const member = Object.hasOwn(holder, slot.siblingName) ? undefined : shape?.members.get(slot.jsonName)
  return member !== undefined && isFlawlessMember(run.flawless, holder, member)
}

/** The slot that a key names; `undefined` for what is unknown, and for the `_name` beside a `name`, which is dealt with there. */
function slotOf(run: Run, node: FhirNode, { holder, key }: { holder: JsonObject; key: string }): ElementSlot | undefined {
  const slot = node.type.members.get(key)
  if (slot !== undefined) return slot
  if (key === 'resourceType' && node.type.kind === 'resource') return undefined
  if (key.charCodeAt(0) === UNDERSCORE) {
    const name = key.slice(1)
    const sibling = node.type.members.get(name)
    if (sibling !== undefined && run.model.type(sibling.type)?.kind === 'primitive')
      return Object.hasOwn(holder, name) ? undefined : sibling
  }
  if (run.isStructural) reportUnknownProperty(run, node, key)
  return undefined
}

function checkOnlyChoice(run: Run, node: FhirNode, { slot, choices }: { slot: ElementSlot; choices: Map<string, ElementSlot> }): void {
  const other = choices.get(slot.name)
  choices.set(slot.name, slot)
  if (other === undefined || !run.isStructural) return
  run.findings.report('several-choices', node, {
    text: `Only one of '${other.jsonName}' and '${slot.jsonName}' may be given.`,
    at: slot.jsonName,
  })
}

/**
 * Whether a member is a primitive value about which a visit would have nothing to say, told without making a node for it, which most members do not
 * need (bench `validate`). False also where only the visit can tell.
 *
 * @param rules What the rules of the parent say about the member.
 */
function isPlainPrimitive(run: Run, member: Member, rules: readonly ElementRule[]): boolean {
  const { slot, holder } = member
  const value = holder[slot.jsonName]
  if (slot.isCollection || typeof value === 'object' || Object.hasOwn(holder, slot.siblingName)) return false
  return isOfPlainType(run, slot.type, value) && areFine(run, member, rules) && (!run.isStructural || hasForm(run, member))
}

function isOfPlainType(run: Run, type: string, value: unknown): boolean {
  if (run.model.type(type)?.kind !== 'primitive' || isCheckedByType(run, type, value)) return false
  const base = run.definitions.baseType(type)
  return base !== undefined && base !== PENDING && base.root.isPlain
}

function areFine(run: Run, { slot, holder }: Member, rules: readonly ElementRule[]): boolean {
  for (const rule of rules) {
    if (!rule.isPlain || rule.min > 1 || rule.max < 1 || (slot.isChoice && !rule.isBase)) return false
    if (rule.bindings.length > 0 && !isIn(run, rule, holder[slot.jsonName])) return false
  }
  return true
}

function isIn(run: Run, rule: ElementRule, code: unknown): boolean {
  if (typeof code !== 'string') return false
  return rule.bindings.every(({ valueSet }) => {
    const list = boundList(run, rule, valueSet)
    return list !== undefined && list !== PENDING && list.has({ code }) === 'in'
  })
}

function hasForm(run: Run, { slot, holder }: Member): boolean {
  const value = holder[slot.jsonName]
  const source = typeof value === 'number' ? (run.numberText(holder, slot.jsonName) ?? String(value)) : ''
  return primitiveCheck(slot.type)(value, source, run.now) === undefined
}
