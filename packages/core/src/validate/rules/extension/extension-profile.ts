import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Profile } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** The definition of an extension, as a list of at most one. The extensions inside a complex one are defined with it, not by themselves. */
export function extensionProfile(run: Run, node: FhirNode): readonly Profile[] {
  const url = isObject(node.value) ? stringAt(node.value, 'url') : undefined
  if (url === undefined || url === '' || !url.includes(':')) return []
  const profile = run.facts.profile(url.split('|', 1)[0] ?? url)
  return profile === undefined || profile === PENDING || profile.type !== 'Extension' ? [] : [profile]
}
