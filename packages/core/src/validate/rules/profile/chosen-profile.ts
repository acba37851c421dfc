import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import { profileRoots } from '../../walk/profile-roots.js'
import type { Run } from '../../walk/run.js'
import { conforms } from './conforms.js'

/**
 * The root rules of the profile on a type that a node has to fit. Of several it must fit one; when it fits none that is reported, and there are
 * no rules.
 */
export function chosenRoots(run: Run, node: FhirNode, canonicals: readonly string[]): readonly ElementRule[] {
  const profiles = canonicals.map((canonical) => run.facts.profile(canonical))
  if (profiles.includes(PENDING)) return []
  const choices = canonicals.map((canonical) => ({ key: canonical, rules: profileRoots(run, canonical) }))
  const [only] = choices
  if (only !== undefined && choices.length === 1) return only.rules
  const fitting = choices.filter(({ key, rules }) => rules.length > 0 && conforms(run, node, { key, rules }))
  const list = canonicals.join(', ')
  if (fitting.length === 0 && !profiles.includes(undefined)) {
    run.sink.report('profile-choice', node, { text: `This fits none of the profiles ${list}.` })
  }
  if (fitting.length > 1) {
    run.sink.report('profile-choice', node, { text: `This fits several of the profiles ${list}.`, severity: 'warning' })
  }
  return fitting[0]?.rules ?? []
}
