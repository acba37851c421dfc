import { PENDING, type FhirNode, pushSlot, type ElementSlot } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { finished, type Work } from '../../work/index.js'
import { extensionProfile } from '../rules/extension/check-extension.js'
import { checkPrimitive } from '../rules/primitive/check-primitive.js'
import { vitalSignsProfile } from '../rules/observation.js'
import { chosenRoots, claimedProfiles, globalProfiles, profilesOfEntry } from '../rules/profile/applied-profiles.js'
import {
  checkCount,
  checkMissing,
  checkNotEmpty,
  checkShape,
  isItemAlone,
  nullItems,
  OBJECT_EXPECTED,
  reportNullItem,
  reportUnknownProperty,
  SEVERAL_CHOICES,
} from '../rules/structure/check-shape.js'
import { checkResourceType, TYPE_NOT_ALLOWED } from '../rules/structure/resource-type.js'
import type { ElementRule, Profile, TypeRule } from '../run/element-rule.js'
import { rootsOf } from '../rules/profile/conforms.js'
import { checkSupport } from '../rules/profile/must-support.js'
import { isNested, type Run, type Plan, type PlannedMember, type QuickCheck, type Shape } from '../run/run.js'
import { assignSlices, type SliceRules } from '../rules/slicing/assign-slices.js'
import type { ElementNodes } from '../run/nodes.js'
import { passesStructure, memberPassesStructure } from './structure-check.js'
import { memberPasses, nodePasses, type NodeMembers } from './quick-check.js'

/**
 * Checks a node and all below it: first the node itself, then its members in document order.
 *
 * @param rules The parent's rules for this element; the rules of its type and of profiles on the type are added here.
 */
export function visitNode(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (run.findings.isFull || (node.value === undefined && node.extra === undefined)) return
  if (!run.policy.validateContained && isContained(node)) return
  run.scheduler.step()
  if (run.policy.checks === 'structure' && passesStructure(run.structureCheck, node, rules[0])) return
  const plan = run.plans.at(run, node.type, rules) ?? run.plans.of(node.type, rulesOf(run, node, rules))
  if (run.checksTypes && !checkForm(run, node)) return
  if (run.policy.checks === 'all') {
    if (run.checksTypes) checkByType(run, node, plan.rules)
    for (const check of plan.demands) check(run, node)
  }
  visitMembers(run, node, plan)
}

function isContained({ slot, parent }: FhirNode): boolean {
  return slot?.name === 'contained' && parent?.type.kind === 'resource'
}

/** False when the node does not have the form that further rules need. */
function checkForm(run: Run, node: FhirNode): boolean {
  const { kind } = node.type
  if (kind !== 'primitive' && !isObject(node.value)) {
    run.findings.report(OBJECT_EXPECTED, node, {
      text: `This element must be an object, not ${Array.isArray(node.value) ? 'an array' : `a ${typeof node.value}`}.`,
    })
    return false
  }
  if (kind === 'resource' && !checkResourceType(run, node)) return false
  return checkNotEmpty(run, node) && (kind !== 'primitive' || node.value === undefined || checkPrimitive(run, node))
}

/** Applies the rules on the node's type and element, and schedules those on the resource as a whole. */
function checkByType(run: Run, node: FhirNode, all: readonly ElementRule[]): void {
  const { type, parent, slot } = node
  if (run.policy.mustSupport !== 'off') checkSupport(run, node, all)
  for (const rule of run.rules.onType(type.name)) rule.check(run, node, all)
  if (run.rules.hasElementRules && parent !== undefined && slot !== undefined) {
    for (const rule of run.rules.onElement(parent.type.name, slot.name)) rule.check(run, node, all)
  }
  if (type.kind !== 'resource') return
  for (const rule of run.rules.onResource(type.name)) run.scheduler.later(() => rule.check(run, node))
}

/** Adds to an element's own rules those of its type, of the profiles on the type, and of the profiles that the node claims. */
function rulesOf(run: Run, node: FhirNode, rules: readonly ElementRule[]): readonly ElementRule[] {
  const all = [...rules]
  const base = isNested(node.type) ? undefined : run.definitions.baseType(node.type.name)
  if (base !== undefined && base !== PENDING && run.checksTypes) all.push(base.root)
  if (run.policy.checks === 'all') addProfiles(run, node, { all, rules })
  return all
}

function addProfiles(run: Run, node: FhirNode, { all, rules }: { all: ElementRule[]; rules: readonly ElementRule[] }): void {
  for (const { types } of rules) {
    const fitting = types.filter((type) => isOfType(node, type))
    if (fitting.length > 0 && fitting.every(({ profiles }) => profiles.length > 0))
      addTypeProfile(run, node, { all, profiles: fitting.flatMap(({ profiles }) => profiles) })
  }
  for (const profile of ownProfiles(run, node)) addRoots(run, all, profile)
}

function isOfType(node: FhirNode, type: TypeRule): boolean {
  if (isNested(node.type) && type.code === 'BackboneElement') return true
  return type.code === node.type.name || type.code === node.slot?.type
}

/** Types are alternatives, also if several have the same code: the node conforms to one of their profiles. */
function addTypeProfile(run: Run, node: FhirNode, { all, profiles }: { all: ElementRule[]; profiles: readonly string[] }): void {
  for (const root of chosenRoots(run, node, profiles)) if (!all.includes(root)) all.push(root)
}

function ownProfiles(run: Run, node: FhirNode): readonly Profile[] {
  if (!run.checksTypes) return []
  if (node.type.kind === 'resource') {
    const claimed = claimedProfiles(run, node)
    const own = [...(claimed.length > 0 ? claimed : vitalSignsProfile(run, node)), ...globalProfiles(run, node)]
    return run.entryProfiles.length === 0 ? own : [...own, ...profilesOfEntry(run, node)]
  }
  return node.type.name === 'Extension' ? extensionProfile(run, node) : []
}

function addRoots(run: Run, all: ElementRule[], profile: Profile): void {
  for (const root of rootsOf(run, profile)) if (!all.includes(root)) all.push(root)
}

const UNDERSCORE = 95
/** The members of a primitive value without id and extensions. A profile can require some. */
const NO_MEMBERS: JsonObject = {}
/** Maximum number of nodes visited in one go. Longer lists are scheduled as separate work, so that other requests can run in between. */
const MAX_AT_ONCE = 50

/** Checks the members of a complex node, or the id and extensions of a primitive one, in document order. */
function visitMembers(run: Run, node: FhirNode, plan: Plan): void {
  const holder = isObject(node.value) ? node.value : (node.extra ?? NO_MEMBERS)
  checkMissing(run, { node, holder }, plan.required)
  if (holder === NO_MEMBERS) return
  const shape = run.policy.checks === 'structure' ? run.structureCheck.shapes.of(node.type.name, plan.rules[0]) : undefined
  const keys = Object.keys(holder)
  const members: NodeMembers = { node, plan, holder, hasSiblings: keys.some(isSibling) }
  let choices: Map<string, ElementSlot> | undefined
  for (const key of keys) {
    if (run.findings.isFull) return
    const member = plan.member(key) ?? memberBeside(run, members, key)
    if (member === undefined) continue
    if (member.slot.isChoice) checkOnlyChoice(run, node, { slot: member.slot, choices: (choices ??= new Map()) })
    if (!passesQuickly(run, members, member, shape)) visitMember(run, members, member)
  }
}

function visitMember(run: Run, { node, holder }: NodeMembers, member: PlannedMember): void {
  const { slot } = member
  if (run.checksTypes && !checkShape(run, node, { slot, holder }) && !isItemAlone(run, { slot, holder }))
    return checkUnreadable(run, node, member)
  const nodes: FhirNode[] = []
  pushSlot(run.model, node, { slot, into: nodes })
  visitElement(run, { parent: node, slot, nodes, nulls: nullItems(run, { slot, holder }) }, member)
}

/** What cannot be read is not there, so the element may be lacking. A choice is there by its name. */
function checkUnreadable(run: Run, node: FhirNode, { slot, rules }: PlannedMember): void {
  if (!slot.isChoice) for (const rule of rules) checkCount(run, node, { rule, count: 0 })
}

/** True for the name of a primitive value's sibling, such as `_name`. */
function isSibling(key: string): boolean {
  return key.charCodeAt(0) === UNDERSCORE
}

/** Whether a quick check shows that there is nothing to report about a member. */
function passesQuickly(run: Run, members: NodeMembers, member: PlannedMember, shape: Shape | undefined): boolean {
  if (run.policy.checks === 'all') return run.policy.mustSupport === 'off' && memberPasses(run, members, member)
  const { node, holder, hasSiblings } = members
  const { siblingName, jsonName } = member.slot
  const shaped = hasSiblings && Object.hasOwn(holder, siblingName) ? undefined : shape?.members.get(jsonName)
  return shaped !== undefined && memberPassesStructure(run.structureCheck, { holder, isBeside: holder !== node.value }, shaped)
}

/** The member that a key `_name` belongs to; `undefined` for unknown keys, and when `name` is present too and is visited with it. */
function memberBeside(run: Run, { node, plan, holder }: NodeMembers, key: string): PlannedMember | undefined {
  if (key === 'resourceType' && node.type.kind === 'resource') return undefined
  if (isSibling(key)) {
    const name = key.slice(1)
    const sibling = plan.member(name)
    if (sibling !== undefined && run.model.type(sibling.slot.type)?.kind === 'primitive')
      return Object.hasOwn(holder, name) ? undefined : sibling
  }
  if (run.checksTypes) reportUnknownProperty(run, node, key)
  return undefined
}

function checkOnlyChoice(run: Run, node: FhirNode, { slot, choices }: { slot: ElementSlot; choices: Map<string, ElementSlot> }): void {
  const other = choices.get(slot.name)
  choices.set(slot.name, slot)
  if (other === undefined || !run.checksTypes) return
  run.findings.report(SEVERAL_CHOICES, node, {
    text: `Only one of '${other.jsonName}' and '${slot.jsonName}' is allowed.`,
    at: slot.jsonName,
  })
}

/** Checks an element as a whole, then each of its nodes with the rules of the node's slices. */
function visitElement(run: Run, element: ElementNodes, { rules, quickCheck: known }: PlannedMember): void {
  const { parent, slot, nodes } = element
  const isQuick = run.policy.checks === 'all' && run.policy.mustSupport === 'off' && nodes.length > 1
  const quickCheck = isQuick && known !== 'never' ? known : undefined
  for (const rule of rules) checkCount(run, parent, { rule, count: rule.min > 0 && !slot.isChoice ? readableIn(nodes) : nodes.length })
  const fitting = slot.isChoice ? rules.filter((rule) => checkType(run, element, rule)) : rules
  if (nodes.length > MAX_AT_ONCE || isEntryResource(element) || run.scheduler.isDue())
    run.scheduler.later(() => visitInPieces(run, { element, rules: fitting, quickCheck }))
  else {
    const slices = isSliced(fitting) ? finished(assignSlices(run, element, fitting)) : undefined
    visitNodes(run, { element, rules: fitting, quickCheck, slices, reportedNulls: 0 }, nodes)
  }
}

/** The number of nodes that are JSON objects or not as their types need. */
function readableIn(nodes: readonly FhirNode[]): number {
  let count = 0
  for (const { type, value, extra } of nodes)
    if (value === undefined ? extra !== undefined : (type.kind === 'primitive') !== isObject(value)) count++
  return count
}

function isSliced(rules: readonly ElementRule[]): boolean {
  return rules.some(({ slices }) => slices.length > 0)
}

/** Each resource of a Bundle is scheduled as separate work, because Bundles are long. */
function isEntryResource({ slot, nodes: [first] }: ElementNodes): boolean {
  return slot.name === 'resource' && first?.type.kind === 'resource'
}

/** A visit of all nodes of an element. */
interface Visit {
  readonly element: ElementNodes
  readonly rules: readonly ElementRule[]
  /** Finds single nodes that need no visit. */
  readonly quickCheck: QuickCheck | undefined
  readonly slices: SliceRules | undefined
  /** Number of nulls reported so far. */
  reportedNulls: number
}

function* visitInPieces(run: Run, parts: Pick<Visit, 'element' | 'rules' | 'quickCheck'>): Work<void> {
  const { element, rules } = parts
  const { nodes } = element
  const slices = isSliced(rules) ? yield* assignSlices(run, element, rules) : undefined
  const visit: Visit = { ...parts, slices, reportedNulls: 0 }
  for (let start = 0; start < nodes.length; start += MAX_AT_ONCE) {
    visitNodes(run, visit, nodes.slice(start, start + MAX_AT_ONCE))
    yield
  }
}

function visitNodes(run: Run, visit: Visit, nodes: readonly FhirNode[]): void {
  const { element, rules, quickCheck, slices } = visit
  for (const node of nodes) {
    const own = slices?.get(node)
    reportNulls(run, visit, node.index)
    if (quickCheck === undefined || !nodePasses(run, node, quickCheck))
      run.visit(run, node, own === undefined ? rules : withSlices(rules, own))
  }
  if (nodes.at(-1) === element.nodes.at(-1)) reportNulls(run, visit, Infinity)
}

/** Reports the nulls before an index, so that findings are in the order of the list: fixes are applied from the last to the first. */
function reportNulls(run: Run, visit: Visit, before: number): void {
  const { parent, slot, nulls } = visit.element
  for (let index = nulls[visit.reportedNulls]; index !== undefined && index < before; index = nulls[++visit.reportedNulls]) {
    if (run.findings.isFull) return
    reportNullItem(run, parent, { slot, index })
  }
}

/** The rules for a node in slices: a slice of a snapshot replaces the sliced element. */
function withSlices(rules: readonly ElementRule[], slices: readonly ElementRule[]): readonly ElementRule[] {
  return [...rules.filter((rule) => !rule.isComplete || !rule.slices.some((slice) => slices.includes(slice))), ...slices]
}

/** Whether a rule allows the type of a choice. If it does not, its other requirements do not apply to the value. */
function checkType(run: Run, { slot, nodes: [first] }: ElementNodes, rule: ElementRule): boolean {
  if (rule.isBase || first === undefined || rule.types.length === 0 || rule.types.some(({ code }) => code === slot.type)) return true
  run.findings.report(TYPE_NOT_ALLOWED, placeOf(first, rule), {
    text: `The type ${slot.type} is not allowed here; allowed types: ${rule.types.map(({ code }) => code).join(', ')}.`,
    profile: rule.profile,
  })
  return false
}

/**
 * The node to report a wrong type at. For an extension that is not part of another, the type of the value concerns the extension as a whole; if a profile
 * allows several types, the parent of the value chose a wrong one. Otherwise it is the value itself.
 */
function placeOf(node: FhirNode, { types }: ElementRule): FhirNode {
  const { parent } = node
  const isWhole = parent?.type.name === 'Extension' && parent.parent?.type.name !== 'Extension'
  return parent !== undefined && (isWhole || types.length > 1) ? parent : node
}
