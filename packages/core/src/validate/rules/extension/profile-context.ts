import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { rootsOf } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { conforms } from '../profile/conforms.js'

/**
 * A context that is an element of a profile: the canonical of the profile, `#`, and the id of the element.
 *
 * @see https://hl7.org/fhir/R4/defining-extensions.html#context
 */
export interface ProfileContext {
  readonly canonical: string
  readonly element: string
}

/** Reads the expression of a context; `undefined` for one that is not about a profile. */
export function profileContext(expression: string): ProfileContext | undefined {
  const end = expression.indexOf('#')
  return end > 0 && expression.includes(':') ? { canonical: expression.slice(0, end), element: expression.slice(end + 1) } : undefined
}

/** True if the profile is not known. */
export function isProfileUnknown(run: Run, { canonical }: ProfileContext): boolean {
  return run.definitions.profile(canonical) === undefined
}

/**
 * Whether a node is the element of the profile, and conforms to the profile's requirements on it.
 *
 * @param names The names by which contexts can mean the node.
 */
export function isInProfile(run: Run, node: FhirNode, { context, names }: { context: ProfileContext; names: readonly string[] }): boolean {
  const profile = run.definitions.profile(context.canonical)
  if (profile === PENDING) return true
  const rule = profile?.elements.get(context.element)
  if (profile === undefined || rule === undefined || !names.includes(rule.path.replace('[x]', ''))) return false
  const rules = rule.path.includes('.') ? [rule] : rootsOf(run, profile)
  return conforms(run, node, { rules, key: `${context.canonical}#${context.element}` })
}
