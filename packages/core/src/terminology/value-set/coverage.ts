import { addBit, emptyBits, addMembers, and, andNot, bitmapOf, members, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import type { Work } from '../../work/index.js'
import { sameSystem, withCodes, type Segment } from './segment.js'

/** The codes of any number of segments. The cost of a further segment depends only on its own codes. */
export interface Coverage {
  add(segment: Segment): Work<void>
  /** Returns the codes of a segment that are not covered, by codes of the same version or equal codes of any version. */
  rest(segment: Segment, versions: Versions): Work<Segment>
  /** Returns the covered codes of a segment, whatever the version; `undefined` when nothing of its code system is covered. */
  common(segment: Segment): Work<Segment | undefined>
}

/** Which codes are compared: those of the same version of a code system, or of every version. */
export type Versions = 'same' | 'any'

/** Creates an empty coverage. */
export function createCoverage(): Coverage {
  const systems = new Map<string, Covered[]>()
  const versionsOf = (provider: CodeSystemProvider): Covered[] => {
    const versions = systems.get(provider.header.url) ?? []
    systems.set(provider.header.url, versions)
    return versions
  }
  return {
    *add(segment) {
      const versions = versionsOf(segment.provider)
      addTo(coveredOf(versions, segment.provider).own, segment.codes)
      for (const one of versions) if (one.any !== undefined) yield* addTranslated(one.any, one.provider, segment)
    },
    *rest(segment, which) {
      const covered = coveredOf(versionsOf(segment.provider), segment.provider)
      const { bitmap } = which === 'same' ? covered.own : yield* everyVersion(covered, versionsOf(segment.provider))
      return bitmap.limit === 0 ? segment : withCodes(segment, andNot(segment.codes, bitmap))
    },
    *common(segment) {
      const versions = systems.get(segment.provider.header.url)
      if (versions === undefined) return undefined
      const codes = yield* everyVersion(coveredOf(versions, segment.provider), versions)
      return withCodes(segment, and(segment.codes, codes.bitmap))
    },
  }
}

/** Creates a coverage of segments. */
export function* coverageOf(segments: readonly Segment[]): Work<Coverage> {
  const covered = createCoverage()
  for (const segment of segments) yield* covered.add(segment)
  return covered
}

/** The covered codes of one version of a code system. */
interface Covered {
  readonly provider: CodeSystemProvider
  readonly own: GrowingSet
  /** Codes of all versions, as concepts of this version; built at first use. */
  any: GrowingSet | undefined
}

interface GrowingSet {
  bitmap: Bitmap
}

function coveredOf(versions: Covered[], provider: CodeSystemProvider): Covered {
  const known = versions.find((one) => sameSystem(one.provider, provider))
  if (known !== undefined) return known
  const covered: Covered = { provider, own: emptySet(), any: undefined }
  versions.push(covered)
  return covered
}

function emptySet(): GrowingSet {
  return { bitmap: bitmapOf(emptyBits(0), 0) }
}

function* everyVersion(covered: Covered, versions: readonly Covered[]): Work<GrowingSet> {
  if (versions.length === 1) return covered.own
  if (covered.any !== undefined) return covered.any
  const any = emptySet()
  for (const { provider, own } of versions) yield* addTranslated(any, covered.provider, { provider, codes: own.bitmap })
  covered.any = any
  return any
}

const STEPS = 256

/** Adds the codes of a segment as concepts of a provider; translated by code if the versions differ. */
function* addTranslated(set: GrowingSet, provider: CodeSystemProvider, { provider: other, codes }: Segment): Work<void> {
  if (sameSystem(provider, other)) return addTo(set, codes)
  let step = 0
  for (const concept of members(codes)) {
    if (step++ % STEPS === 0) yield
    const same = provider.find(other.code(concept))
    if (same !== undefined) addBit(roomFor(set, same + 1), same)
  }
}

function addTo(set: GrowingSet, codes: Bitmap): void {
  addMembers(roomFor(set, codes.limit), codes)
}

/** Returns the words of a set with room for numbers below the limit, because the number of codes of a computed system grows. */
function roomFor(set: GrowingSet, limit: number): Uint32Array {
  if (limit > set.bitmap.limit) {
    const words = emptyBits(Math.max(limit, set.bitmap.limit * 2))
    words.set(set.bitmap.words)
    set.bitmap = bitmapOf(words, words.length * 32)
  }
  return set.bitmap.words
}
