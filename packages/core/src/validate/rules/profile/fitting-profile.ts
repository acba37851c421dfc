import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { Profile } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** The profile as a list of one when it is for the node's type and builds on what is known; else that is reported, and the list is empty. */
export function fittingProfile(run: Run, node: FhirNode, profile: Profile): readonly Profile[] {
  const missing = missingBase(run, profile)
  if (missing !== undefined) {
    run.sink.report('definition-snapshot', node, {
      text: `The profile ${quoted(profile.url)} cannot be used: it builds on ${quoted(missing)}, which is not known here or builds on it in turn.`,
      profile: profile.canonical,
    })
    return []
  }
  if (isSubtype(run.model, node.type, profile.type)) return [profile]
  run.sink.report('profile-type', node, {
    text: `The profile ${quoted(profile.url)} is for ${profile.type}, not for ${node.type.name}.`,
    profile: profile.canonical,
  })
  return []
}

/** The canonical at which the chain of profiles down to a type breaks off. */
function missingBase(run: Run, profile: Profile): string | undefined {
  const seen = new Set([profile.canonical])
  for (let base = profile.base; base !== undefined;) {
    const next = run.facts.profile(base)
    if (next === PENDING) return undefined
    if (next === undefined || seen.has(next.canonical)) return base
    seen.add(next.canonical)
    base = next.base
  }
  return undefined
}
