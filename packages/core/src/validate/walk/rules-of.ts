import { PENDING } from '../../fhirpath/index.js'
import type { FhirNode } from '../../fhirpath/index.js'
import type { ElementRule, Profile, TypeRule } from '../profile/element-rule.js'
import { extensionProfile } from '../rules/extension/extension-profile.js'
import { vitalSignsProfile } from '../rules/observation/vital-signs.js'
import { claimedProfiles } from '../rules/profile/claimed-profiles.js'
import { chosenRoots } from '../rules/profile/chosen-profile.js'
import { globalProfiles } from '../rules/profile/global-profiles.js'
import { rootsOf } from './profile-roots.js'
import { isNested, type Run } from './run.js'

/** Adds to an element's own rules those of its type, of the profiles on the type, and of the profiles that the node claims. */
export function rulesOf(run: Run, node: FhirNode, rules: readonly ElementRule[]): readonly ElementRule[] {
  const all = [...rules]
  const base = isNested(node.type) ? undefined : run.facts.baseType(node.type.name)
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
