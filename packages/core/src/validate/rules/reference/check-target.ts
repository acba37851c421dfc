import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule, TypeRule } from '../../profile/element-rule.js'
import { rootsOf } from '../../walk/profile-roots.js'
import type { Run } from '../../walk/run.js'
import { conforms } from '../profile/conforms.js'
import { referenceOf, resolveLocally } from './resolve-locally.js'

/** Checks that what a Reference leads to, where that is at hand, is of a type and profile that the rules allow. */
export function checkTarget(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const reference = node.type.name === 'Reference' ? referenceOf(node) : undefined
  const target = reference === undefined ? undefined : resolveLocally(run, node, reference)
  if (target === undefined) return
  for (const rule of rules) {
    const type = rule.types.find(({ code }) => code === 'Reference')
    if (type === undefined || type.targetProfiles.length === 0 || type.targetProfiles.some((canonical) => isAllowed(run, target, canonical))) continue
    run.sink.report('reference', node, {
      text: `The reference ${quoted(reference ?? '')} leads to a ${target.type.name} that is none of ${namesOf(type)}.`,
      ...(!rule.isBase && { profile: rule.profile }),
    })
    return
  }
}

/** A profile that is not known, or not there yet, allows what it is asked. */
function isAllowed(run: Run, target: FhirNode, canonical: string): boolean {
  const profile = run.facts.profile(canonical)
  if (profile === undefined || profile === PENDING) return true
  if (!isSubtype(run.model, target.type, profile.type)) return false
  return profile.isBase || conforms(run, target, { rules: rootsOf(run, profile), key: canonical })
}

function namesOf({ targetProfiles }: TypeRule): string {
  return targetProfiles.map((canonical) => canonical.replace('http://hl7.org/fhir/StructureDefinition/', '')).join(', ')
}
