import { PENDING } from '../../../fhirpath/index.js'
import type { Profile } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'

/** A profile that another one imposes on all that conforms to it. */
export interface ImposedProfile {
  readonly canonical: string
  /** The profile that imposes it. */
  readonly by: Profile
}

/**
 * What a profile and those that it is derived from impose by the extension `structuredefinition-imposeProfile`, and what that imposes in turn; each once,
 * known or not.
 */
export function imposedBy(run: Run, profile: Profile): readonly ImposedProfile[] {
  const found = new Map<string, ImposedProfile>()
  const open = lineOf(run, profile)
  for (const by of open) {
    for (const canonical of by.imposes) {
      const next = run.definitions.profile(canonical)
      if (next === profile || found.has(canonical)) continue
      found.set(canonical, { canonical, by })
      if (next !== undefined && next !== PENDING) open.push(...lineOf(run, next).filter((one) => !open.includes(one)))
    }
  }
  return [...found.values()]
}

/** A profile and those that its differential builds on; a snapshot repeats what these impose. */
function lineOf(run: Run, profile: Profile): Profile[] {
  const line = [profile]
  for (let base = profile.base; base !== undefined;) {
    const next = run.definitions.profile(base)
    if (next === undefined || next === PENDING || line.includes(next)) break
    line.push(next)
    base = next.base
  }
  return line
}
