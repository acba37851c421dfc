import { conceptsOf, coverOf, nameOf, without, type Members, type Segment, type ValueSetPlan } from '../terminology/index.js'
import { overlapOf, type Overlap } from './overlap.js'

/** When codes of different versions of a code system are different: where the system says so (the default), always, or never. */
export type VersionPolicy = 'as-needed' | 'always' | 'never'

/** How two value sets overlap, by all their codes. Codes are told in the order of the value sets, and once each. */
export function compareMembers(a: Members, b: Members, policy: VersionPolicy): Overlap {
  const missing = difference(a, b, policy)
  const extra = difference(b, a, policy)
  const common = without(a.segments, coverOf(missing), false)
  return overlapOf({ common: codesOf(common), missing: codesOf(missing), extra: codesOf(extra) })
}

/** Why the codes of a value set are not all that it has; `undefined` when they are. */
export function whyOpen({ valueSet }: ValueSetPlan, { segments, systems }: Members): string | undefined {
  if (segments.some(({ made }) => made !== undefined)) return `The codes of ${nameOf(valueSet)} cannot all be listed`
  const fragment = systems.find(({ provider }) => provider?.header.complete === false)
  return fragment === undefined ? undefined : `${nameOf(valueSet)} is based on a fragment of the code system ${fragment.family.url}`
}

function difference(a: Members, b: Members, policy: VersionPolicy): readonly Segment[] {
  const others = coverOf(b.segments)
  return a.segments.flatMap((segment) => {
    const isVersioned = policy === 'always' || (policy === 'as-needed' && segment.provider.header.versionNeeded)
    return without([segment], others, !isVersioned)
  })
}

function codesOf(segments: readonly Segment[]): readonly string[] {
  const codes = segments.flatMap((segment) => Array.from(conceptsOf(segment), (concept) => segment.provider.code(concept)))
  return [...new Set(codes)]
}
