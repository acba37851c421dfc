import { quoted } from '../../../errors/index.js'
import { PENDING } from '../../../fhirpath/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt } from '../../../json/index.js'
import type { Profile } from '../../profile/element-rule.js'
import { fittingProfile } from './fitting-profile.js'
import type { Run } from '../../walk/run.js'

/** FHIR's own definitions, by release. */
const OTHER_RELEASE = /^http:\/\/hl7\.org\/fhir\/(\d\.\d)\/StructureDefinition\//

/** The profiles that a resource names in `meta.profile`; those that are not known get a warning. */
export function claimedProfiles(run: Run, node: FhirNode): readonly Profile[] {
  const claims = isObject(node.value) ? objectAt(node.value, 'meta')?.['profile'] : undefined
  if (!Array.isArray(claims)) return []
  return claims.flatMap((claim: unknown, index) => (typeof claim === 'string' ? claimed(run, node, { claim, index }) : []))
}

function claimed(run: Run, node: FhirNode, { claim, index }: { claim: string; index: number }): readonly Profile[] {
  const profile = run.facts.profile(claim)
  if (profile === PENDING) return []
  const release = OTHER_RELEASE.exec(claim)?.[1]
  if (profile === undefined && release !== undefined) {
    run.sink.report('profile-other-version', node, {
      text: `The profile ${quoted(claim)} is for FHIR ${release}, so nothing of it is checked.`,
      at: `meta.profile[${index}]`,
    })
    return []
  }
  if (profile === undefined) {
    run.sink.report('profile-unknown', node, {
      text: `The profile ${quoted(claim)} is not known here, so nothing of it is checked.`,
      at: `meta.profile[${index}]`,
    })
    return []
  }
  return fittingProfile(run, node, profile)
}
