import { canonicalOf } from '../../content/index.js'
import { PENDING } from '../../fhirpath/index.js'
import type { ElementRule, Profile } from './element-rule.js'
import type { Run } from './run.js'

/**
 * The root rules of a profile and of the profiles that it builds on, or the rule of the element that the canonical's fragment names. Empty while the
 * profile is pending, and when it is not known.
 */
export function profileRoots(run: Run, canonical: string): readonly ElementRule[] {
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return []
  const { fragment } = canonicalOf(canonical)
  if (fragment === undefined) return rootsOf(run, profile)
  const element = profile.elements.get(fragment)
  return element === undefined ? [] : [element]
}

/** Like `profileRoots`, for a compiled profile. */
export function rootsOf(run: Run, profile: Profile): readonly ElementRule[] {
  const roots = [profile.root]
  const seen = new Set([profile.canonical])
  for (let base = profile.base; base !== undefined;) {
    const next = run.definitions.profile(base)
    if (next === undefined || next === PENDING || seen.has(next.canonical)) break
    seen.add(next.canonical)
    roots.push(next.root)
    base = next.base
  }
  return roots
}
