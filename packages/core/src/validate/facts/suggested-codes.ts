import { nearest } from '../../nearest/index.js'
import { withImports, type CodeSystemProvider, type ValueSetPlan } from '../../terminology/index.js'
import type { GivenCode } from './codes.js'

const SHORT_LIST = 6
const MAX_CODES = 1_000

/**
 * Codes of a value set that a wrong one may mean, the nearest first; when none is near and there are no more than six, all.
 *
 * @param isMember Whether a code, of the system of the wrong one, is in the value set.
 */
export function suggestedCodes(plan: ValueSetPlan, { system, code }: GivenCode, isMember: (code: string) => boolean): readonly string[] {
  const codes = [...codesNamed(plan, system)]
  const near = nearest(code, codes).filter(isMember)
  return near.length > 0 || codes.length > SHORT_LIST ? near : codes.filter(isMember)
}

/** The codes that the value set and those that it imports list, or that short code systems have. */
function codesNamed(plan: ValueSetPlan, system: string | undefined): ReadonlySet<string> {
  const codes = new Set<string>()
  for (const { definition, family } of withImports(plan).flatMap(({ includes }) => includes)) {
    if (system !== undefined && family?.url !== system) continue
    const provider = definition.concepts === undefined ? family?.provider(definition.version) : undefined
    for (const code of definition.concepts?.map((listed) => listed.code) ?? codesOfSystem(provider)) codes.add(code)
  }
  return codes
}

/** All codes of a code system of at most a thousand; none of a larger one. */
export function codesOfSystem(provider: CodeSystemProvider | undefined): readonly string[] {
  const size = provider?.index?.size ?? 0
  if (provider === undefined || size > MAX_CODES) return []
  return Array.from({ length: size }, (_, concept) => provider.code(concept))
}
