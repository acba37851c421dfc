import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { Profile } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { fittingProfile } from './fitting-profile.js'

/** The profiles that ImplementationGuides set for all resources of the node's type; those that are not known get a warning. */
export function globalProfiles(run: Run, node: FhirNode): readonly Profile[] {
  const canonicals = run.facts.globalProfiles(node.type.name)
  return canonicals === PENDING ? [] : canonicals.flatMap((canonical) => globalProfile(run, node, canonical))
}

function globalProfile(run: Run, node: FhirNode, canonical: string): readonly Profile[] {
  const profile = run.facts.profile(canonical)
  if (profile === PENDING) return []
  if (profile !== undefined) return fittingProfile(run, node, profile)
  run.sink.report('profile-unknown', node, {
    text: `The profile ${canonical}, which an ImplementationGuide sets for every ${node.type.name}, is not known here.`,
  })
  return []
}
