import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { Profile } from '../../profile/element-rule.js'
import { rootsOf } from '../../walk/profile-roots.js'
import type { Run } from '../../walk/run.js'
import { conforms } from './conforms.js'

/**
 * Of the profiles on a type the one that a node has to fit. Of several it must fit one; when it fits none that is reported, and
 * `undefined` given.
 */
export function chosenProfile(run: Run, node: FhirNode, canonicals: readonly string[]): Profile | undefined {
  const profiles = canonicals.map((canonical) => run.facts.profile(canonical))
  if (profiles.includes(PENDING)) return undefined
  const known = profiles.filter((profile) => profile !== undefined && profile !== PENDING)
  if (canonicals.length === 1) return known[0]
  const fitting = known.filter((profile) => conforms(run, node, { rules: rootsOf(run, profile), key: profile.canonical }))
  const list = canonicals.join(', ')
  if (fitting.length === 0 && known.length === canonicals.length) {
    run.sink.report('profile-choice', node, { text: `This fits none of the profiles ${list}.` })
  }
  if (fitting.length > 1) {
    run.sink.report('profile-choice', node, { text: `This fits several of the profiles ${list}.`, severity: 'warning' })
  }
  return fitting[0]
}
