import { canonicalOf } from '../../../content/index.js'
import { isSubtype, PENDING, type FhirNode, type TypeDefinition } from '../../../fhirpath/index.js'
import { TYPE_URL, type ElementRule } from '../../run/element-rule.js'
import { rootsOf } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { conforms } from '../profile/conforms.js'

/** The target of a reference: the type that the reference names, and the resource if it is available. */
export interface Target {
  readonly type: TypeDefinition
  readonly resource?: FhirNode
  /** `Type/id` of a stored resource that is not part of the validated one. */
  readonly address?: string
}

/** Canonicals of the profiles of which the target of a Reference must conform to one; empty when any target is allowed. */
export function targetProfilesOf({ types }: ElementRule): readonly string[] {
  return types.find(({ code }) => code === 'Reference')?.targetProfiles ?? []
}

/** Whether a target conforms to a profile; true when the profile is unknown or pending. */
export function isAllowed(run: Run, { type, resource, address }: Target, canonical: string): boolean {
  const own = ownType(run, canonical)
  if (own !== undefined) return isSubtype(run.model, type, own)
  const profile = run.definitions.profile(canonical)
  if (profile === undefined || profile === PENDING) return true
  if (!isSubtype(run.model, type, profile.type)) return false
  return (
    profile.isBase ||
    resource === undefined ||
    conforms(run, resource, { rules: rootsOf(run, profile), key: address === undefined ? canonical : `${canonical} ${address}` })
  )
}

/** True for the canonical of an unknown profile. */
export function isUnknown(run: Run, canonical: string): boolean {
  return ownType(run, canonical) === undefined && run.definitions.profile(canonical) === undefined
}

/** Formats canonicals for messages. */
export function namesOf(canonicals: readonly string[]): string {
  return canonicals.map((canonical) => canonical.replace(TYPE_URL, '')).join(', ')
}

/** True for the canonical of one of FHIR's own types. */
export function isOwnType(run: Run, canonical: string): boolean {
  return ownType(run, canonical) !== undefined
}

const RELEASE = '4.0.1'

/**
 * The type of FHIR's own with this canonical, unless its version is that of another release. Only the canonical is examined, because each definition to
 * fetch would take another walk.
 */
function ownType({ model }: Run, canonical: string): string | undefined {
  const { url, version } = canonicalOf(canonical)
  if (version !== undefined && !`${RELEASE}.`.startsWith(`${version}.`)) return undefined
  const name = url.startsWith(TYPE_URL) ? url.slice(TYPE_URL.length) : ''
  return model.type(name) === undefined ? undefined : name
}
