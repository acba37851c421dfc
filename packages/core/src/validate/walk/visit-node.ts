import { PENDING, type FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'
import { extensionProfile } from '../rules/extension/check-extension.js'
import { checkPrimitive } from '../rules/primitive/check-primitive.js'
import { claimedProfiles, globalProfiles, vitalSignsProfile } from '../rules/profile/applied-profiles.js'
import { chosenRoots } from '../rules/profile/chosen-profile.js'
import { checkNotEmpty, OBJECT_EXPECTED } from '../rules/structure/check-shape.js'
import { checkResourceType } from '../rules/structure/resource-type.js'
import type { ElementRule, Profile, TypeRule } from '../run/element-rule.js'
import { rootsOf } from '../run/profile-roots.js'
import { isNested, type Run } from '../run/run.js'
import { passesStructure } from './structure-check.js'
import { visitMembers } from './visit-members.js'

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
    run.findings.report(OBJECT_EXPECTED, node, { text: `This element must be an object, not a ${typeof node.value}.` })
    return false
  }
  if (kind === 'resource' && !checkResourceType(run, node)) return false
  return checkNotEmpty(run, node) && (kind !== 'primitive' || node.value === undefined || checkPrimitive(run, node))
}

/** Applies the rules on the node's type and element, and schedules those on the resource as a whole. */
function checkByType(run: Run, node: FhirNode, all: readonly ElementRule[]): void {
  const { type, parent, slot } = node
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
    return [...(claimed.length > 0 ? claimed : vitalSignsProfile(run, node)), ...globalProfiles(run, node)]
  }
  return node.type.name === 'Extension' ? extensionProfile(run, node) : []
}

function addRoots(run: Run, all: ElementRule[], profile: Profile): void {
  for (const root of rootsOf(run, profile)) if (!all.includes(root)) all.push(root)
}
