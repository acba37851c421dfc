import { PENDING } from '../../../fhirpath/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import { rootsOf } from '../../walk/profile-roots.js'
import { fittingProfile } from './fitting-profile.js'
import type { Run } from '../../walk/run.js'

/**
 * The rules of the profiles that the caller asks for.
 *
 * @throws {OperationError} `profile-not-found` for one that is not to be found.
 */
export function requestedRules(run: Run, canonicals: readonly string[]): readonly ElementRule[] {
  return canonicals.flatMap((canonical) => {
    const profile = run.facts.profile(canonical)
    if (profile === undefined) throw new OperationError('profile-not-found', `The profile ${quoted(canonical)} is not known.`)
    return profile === PENDING ? [] : fittingProfile(run, run.root, profile).flatMap((fitting) => rootsOf(run, fitting))
  })
}
