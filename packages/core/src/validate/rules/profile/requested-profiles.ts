import { isSubtype, PENDING } from '../../../fhirpath/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import type { ElementRule, Profile } from '../../profile/element-rule.js'
import { childrenOf } from '../../walk/children.js'
import { rootsOf } from '../../walk/profile-roots.js'
import { fittingProfile } from './fitting-profile.js'
import type { Run } from '../../walk/run.js'

/**
 * The rules of the profiles that the caller asks for, as far as they are for the resource itself.
 *
 * @throws {OperationError} `profile-not-found` for one that is not to be found.
 */
export function requestedRules(run: Run, canonicals: readonly string[]): readonly ElementRule[] {
  const meant = requested(run, canonicals).filter((profile) => !isForEntry(run, profile))
  return meant.flatMap((profile) => fittingProfile(run, run.root, profile)).flatMap((profile) => rootsOf(run, profile))
}

/** Checks the resource of a Bundle's first entry against the profiles that the caller asks for and that are for no Bundle. */
export function visitFirstEntry(run: Run, canonicals: readonly string[]): void {
  const profiles = requested(run, canonicals).filter((profile) => isForEntry(run, profile))
  const [entry] = profiles.length === 0 ? [] : childrenOf(run, run.root, 'entry')
  const [resource] = entry === undefined ? [] : childrenOf(run, entry, 'resource')
  if (resource === undefined) return
  const rules = profiles.flatMap((profile) => fittingProfile(run, resource, profile)).flatMap((profile) => rootsOf(run, profile))
  run.visit({ ...run, isStructural: false }, resource, rules)
}

function requested(run: Run, canonicals: readonly string[]): readonly Profile[] {
  return canonicals.flatMap((canonical) => {
    const profile = run.facts.profile(canonical)
    if (profile === undefined) throw new OperationError('profile-not-found', `The profile ${quoted(canonical)} is not known.`)
    return profile === PENDING ? [] : [profile]
  })
}

function isForEntry({ model, root }: Run, { type }: Profile): boolean {
  return root.type.name === 'Bundle' && !isSubtype(model, root.type, type)
}
