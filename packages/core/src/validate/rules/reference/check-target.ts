import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import type { ElementRule, TypeRule } from '../../profile/element-rule.js'
import { rootsOf } from '../../walk/profile-roots.js'
import type { Run } from '../../walk/run.js'
import { conforms } from '../profile/conforms.js'
import { referenceOf, resolveLocally } from './resolve-locally.js'

/** What a reference leads to: the type that its text names, and the resource where that is at hand. */
interface Target {
  readonly type: TypeDefinition
  readonly resource?: FhirNode
}

/** Checks that what a Reference leads to is of a type that the rules allow and, where it is at hand, of a profile that they allow. */
export function checkTarget(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const reference = node.type.name === 'Reference' ? referenceOf(node) : undefined
  const target = reference === undefined ? undefined : targetOf(run, node, reference)
  if (target === undefined) return
  for (const rule of rules) {
    const type = rule.types.find(({ code }) => code === 'Reference')
    if (
      type === undefined ||
      type.targetProfiles.length === 0 ||
      type.targetProfiles.some((canonical) => isAllowed(run, target, canonical))
    )
      continue
    run.sink.report('reference', node, {
      text: `The reference ${quoted(reference ?? '')} leads to a ${target.type.name} that is none of ${namesOf(type)}.`,
      ...(!rule.isBase && { profile: rule.profile }),
    })
    return
  }
}

/** A relative reference begins with the type. */
const RELATIVE = /^([A-Z][A-Za-z]{0,63})\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?(?:#.*)?$/

function targetOf(run: Run, node: FhirNode, reference: string): Target | undefined {
  const resource = resolveLocally(run, node, reference)
  if (resource !== undefined) return { type: resource.type, resource }
  const type = run.model.type(RELATIVE.exec(reference)?.[1] ?? '')
  return type?.kind === 'resource' ? { type } : undefined
}

/** A profile that is not known, or not there yet, allows what it is asked. */
function isAllowed(run: Run, { type, resource }: Target, canonical: string): boolean {
  const profile = run.facts.profile(canonical)
  if (profile === undefined || profile === PENDING) return true
  if (!isSubtype(run.model, type, profile.type)) return false
  return profile.isBase || resource === undefined || conforms(run, resource, { rules: rootsOf(run, profile), key: canonical })
}

function namesOf({ targetProfiles }: TypeRule): string {
  return targetProfiles.map((canonical) => canonical.replace('http://hl7.org/fhir/StructureDefinition/', '')).join(', ')
}
