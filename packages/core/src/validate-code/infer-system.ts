import { escaped, membershipIn, nameOf, withImports } from '../terminology/index.js'
import type { Work } from '../work/index.js'
import type { CodingCheck } from './check-coding.js'
import type { GivenCoding } from './input.js'
import { issueOf, type ValidationIssue } from './issue.js'

/** The coding with the system from which the value set has its code; an issue when there is no such system, or more than one. */
export function* inferredSystem({ scope, plan, input }: CodingCheck, coding: GivenCoding): Work<GivenCoding | ValidationIssue> {
  const parts = withImports(plan).flatMap(({ includes }) => includes)
  const urls = new Set(parts.flatMap(({ family }) => family?.url ?? []))
  const options = { activeOnly: input.activeOnly, abstract: input.abstract }
  const systems: string[] = []
  for (const system of urls) {
    yield
    const { state } = yield* membershipIn({ scope, code: { ...coding, system }, options }, plan)
    if (state === 'in') systems.push(system)
  }
  const [system] = systems
  if (system !== undefined && systems.length === 1) return { ...coding, system }
  const values = { code: coding.code, valueSet: nameOf(plan.valueSet), systems: systems.map(escaped).join(', ') }
  const id = systems.length === 0 ? 'UNABLE_TO_INFER_CODESYSTEM' : 'Unable_to_resolve_system__value_set_has_multiple_matches'
  return issueOf(id, values, { at: 'code' })
}

/** True for an issue, false for a coding. */
export function isIssue(value: GivenCoding | ValidationIssue): value is ValidationIssue {
  return 'severity' in value
}
