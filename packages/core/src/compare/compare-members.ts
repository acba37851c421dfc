import { conceptsOf, coverageOf, nameOf, type Members, type Segment, type ValueSetPlan } from '../terminology/index.js'
import { mapped, type Work } from '../work/index.js'
import { overlapOf, type Overlap } from './overlap.js'

/** When codes of different versions of a code system are different: where the system says so (the default), always, or never. */
export type VersionPolicy = 'as-needed' | 'always' | 'never'

/** How two value sets overlap, by all their codes. Codes are told in the order of the value sets, and once each. */
export function* compareMembers(a: Members, b: Members, policy: VersionPolicy): Work<Overlap> {
  const missing = yield* difference(a, b, policy)
  const extra = yield* difference(b, a, policy)
  const taken = yield* coverageOf(missing)
  const common = yield* mapped(a.segments, (segment) => taken.rest(segment, 'same'))
  return overlapOf({ common: yield* codesOf(common), missing: yield* codesOf(missing), extra: yield* codesOf(extra) })
}

/** Why the codes of a value set are not all that it has; `undefined` when they are. */
export function whyOpen({ valueSet }: ValueSetPlan, { segments, systems }: Members): string | undefined {
  if (segments.some(({ made }) => made !== undefined)) return `The codes of ${nameOf(valueSet)} cannot all be listed`
  const fragment = systems.find(({ provider }) => provider?.header.complete === false)
  return fragment === undefined ? undefined : `${nameOf(valueSet)} is based on a fragment of the code system ${fragment.family.url}`
}

function* difference(a: Members, b: Members, policy: VersionPolicy): Work<readonly Segment[]> {
  const others = yield* coverageOf(b.segments)
  return yield* mapped(a.segments, (segment) => {
    const isVersioned = policy === 'always' || (policy === 'as-needed' && segment.provider.header.versionNeeded)
    return others.rest(segment, isVersioned ? 'same' : 'any')
  })
}

const STEPS = 256

function* codesOf(segments: readonly Segment[]): Work<readonly string[]> {
  const codes = new Set<string>()
  for (const segment of segments) {
    for (const concept of conceptsOf(segment)) {
      if (codes.size % STEPS === 0) yield
      codes.add(segment.provider.code(concept))
    }
  }
  return [...codes]
}
