import { PENDING, type FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'
import { checkBindings } from '../rules/codes/check-bindings.js'
import { checkConstraints } from '../rules/constraint/check-constraints.js'
import { extensionProfile } from '../rules/extension/check-extension.js'
import { checkPrimitive } from '../rules/primitive/check-primitive.js'
import { claimedProfiles, globalProfiles } from '../rules/profile/applied-profiles.js'
import { chosenRoots } from '../rules/profile/chosen-profile.js'
import { vitalSignsProfile } from '../rules/profile/vital-signs.js'
import { checkTarget } from '../rules/reference/check-target.js'
import { checkByType } from '../rules/registry.js'
import { checkNotEmpty } from '../rules/structure/check-shape.js'
import { checkElementId } from '../rules/structure/element-id.js'
import { checkAllowedType, checkResourceType } from '../rules/structure/resource-type.js'
import { checkValue } from '../rules/value/check-value.js'
import type { ElementRule, Profile, TypeRule } from '../run/element-rule.js'
import { rootsOf } from '../run/profile-roots.js'
import { isNested, type Run } from '../run/run.js'
import { isFlawless } from './flawless.js'
import { visitMembers } from './visit-members.js'

/**
 * Checks a node and all below it: first the node itself, then its members in document order.
 *
 * @param rules What the parent's rules say about this element; the rules of its type and of profiles on the type are added here.
 */
export function visitNode(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (run.findings.isFull || (node.value === undefined && node.extra === undefined)) return
  run.step()
  if (run.checks === 'structure' && isFlawless(run.flawless, node, rules[0])) return
  const all = rulesOf(run, node, rules)
  if (run.isStructural && !checkOwn(run, node, all)) return
  if (run.checks === 'all') checkRules(run, node, all)
  visitMembers(run, node, all)
}

function checkRules(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.type.kind === 'resource') checkAllowedType(run, node, rules)
  for (const rule of rules) checkValue(run, node, rule)
  checkBindings(run, node, rules)
  checkConstraints(run, node, rules)
  checkTarget(run, node, rules)
}

/** What holds for every node of the type. False when the node does not have the form that further rules need. */
function checkOwn(run: Run, node: FhirNode, rules: readonly ElementRule[]): boolean {
  if (node.type.kind !== 'primitive' && !isObject(node.value)) {
    run.findings.report('object-expected', node, { text: `An object is expected here, not a ${typeof node.value}.` })
    return false
  }
  if (node.type.kind === 'resource' && !checkResourceType(run, node)) return false
  if (!checkNotEmpty(run, node)) return false
  if (node.type.kind === 'primitive' && node.value !== undefined && !checkPrimitive(run, node)) return false
  if (run.checks === 'all') {
    checkElementId(run, node)
    checkByType(run, node, rules)
  }
  return true
}

/** Adds to an element's own rules those of its type, of the profiles on the type, and of the profiles that the node claims. */
function rulesOf(run: Run, node: FhirNode, rules: readonly ElementRule[]): readonly ElementRule[] {
  const all = [...rules]
  const base = isNested(node.type) ? undefined : run.definitions.baseType(node.type.name)
  if (base !== undefined && base !== PENDING && run.isStructural) all.push(base.root)
  if (run.checks === 'all') addProfiles(run, node, { all, rules })
  return all
}

function addProfiles(run: Run, node: FhirNode, { all, rules }: { all: ElementRule[]; rules: readonly ElementRule[] }): void {
  for (const rule of rules) {
    for (const type of rule.types) if (isOfType(node, type) && type.profiles.length > 0) addTypeProfile(run, node, { all, type })
  }
  for (const profile of ownProfiles(run, node)) addRoots(run, all, profile)
}

function isOfType(node: FhirNode, type: TypeRule): boolean {
  if (isNested(node.type) && type.code === 'BackboneElement') return true
  return type.code === node.type.name || type.code === node.slot?.type
}

function addTypeProfile(run: Run, node: FhirNode, { all, type }: { all: ElementRule[]; type: TypeRule }): void {
  for (const root of chosenRoots(run, node, type.profiles)) if (!all.includes(root)) all.push(root)
}

function ownProfiles(run: Run, node: FhirNode): readonly Profile[] {
  if (!run.isStructural) return []
  if (node.type.kind === 'resource') {
    const claimed = claimedProfiles(run, node)
    return [...(claimed.length > 0 ? claimed : vitalSignsProfile(run, node)), ...globalProfiles(run, node)]
  }
  return node.type.name === 'Extension' ? extensionProfile(run, node) : []
}

function addRoots(run: Run, all: ElementRule[], profile: Profile): void {
  for (const root of rootsOf(run, profile)) if (!all.includes(root)) all.push(root)
}
