import { quoted } from '../../../errors/index.js'
import { isSubtype, type FhirNode } from '../../../fhirpath/index.js'
import type { Profile } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** The profile as a list of one when it is for the node's type; else that is reported, and the list is empty. */
export function fittingProfile(run: Run, node: FhirNode, profile: Profile): readonly Profile[] {
  if (isSubtype(run.model, node.type, profile.type)) return [profile]
  run.sink.report('profile-type', node, {
    text: `The profile ${quoted(profile.url)} is for ${profile.type}, not for ${node.type.name}.`,
    profile: profile.canonical,
  })
  return []
}
