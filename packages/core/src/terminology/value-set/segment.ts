import { bitmapFrom, members, addBit, emptyBits, addMembers, and, andNot, bitmapOf, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, StandInValueSet } from '../../code-system/index.js'
import { listable } from '../filter/concept-set.js'
import type { Work } from '../../work/index.js'
import type { ListedCode } from './value-set.js'

/** Ordered codes of one version of one code system. */
export interface Segment {
  readonly provider: CodeSystemProvider
  readonly codes: Bitmap
  /** The order of a list of codes, or of joined segments; that of the code system when absent. */
  readonly order?: readonly number[]
  /** The entries of codes that the value set lists. */
  readonly listed?: ReadonlyMap<number, ListedCode>
  /** The text filter that selected the codes, if any. */
  readonly filter?: string
  /** Present if the segment also includes codes that a grammar forms, which cannot be listed: all or some of them. */
  readonly formed?: 'all' | 'some'
  /** True if codes that a grammar forms may satisfy its filters, although they are not included. */
  readonly extensible?: boolean
}

/** Returns the value sets that represent systems whose codes can be neither listed nor counted. */
export function standIns(segments: readonly Segment[]): readonly StandInValueSet[] {
  return segments.flatMap(({ formed, provider }) => (formed === undefined ? [] : (provider.grammar?.common ?? [])))
}

/** Replaces the codes of a segment with a subset. */
export function withCodes(segment: Segment, codes: Bitmap): Segment {
  return { ...segment, codes }
}

/** Returns the concepts of a segment in order, each once, without the first `skip`. */
export function conceptsOf({ codes, order }: Segment, skip = 0): Iterable<number> {
  return order === undefined ? members(codes, skip) : listedOf(order, codes, skip)
}

function* listedOf(order: readonly number[], codes: Bitmap, skip: number): Generator<number, void, undefined> {
  let left = skip
  for (const concept of order) {
    if (codes.has(concept) && left-- <= 0) yield concept
  }
}

/** True if both are the same version of the same code system. */
export function sameSystem(a: CodeSystemProvider, b: CodeSystemProvider): boolean {
  return a.header.url === b.header.url && a.header.version === b.header.version
}

/** In value sets with more segments than this, consecutive segments of the same version of a system are joined. */
const MANY = 64

/** Joins segments if there are too many. Codes and their order stay the same. */
export function* joined(segments: readonly Segment[]): Work<readonly Segment[]> {
  if (segments.length <= MANY) return segments
  const runs: [Segment, ...Segment[]][] = []
  for (const segment of segments) {
    const run = runs.at(-1)
    if (run !== undefined && canFollow(run[0], segment)) run.push(segment)
    else runs.push([segment])
  }
  const all: Segment[] = []
  for (const run of runs) all.push(run.length === 1 ? run[0] : yield* joinedRun(run))
  return all
}

function canFollow(first: Segment, next: Segment): boolean {
  const isListed = [first, next].every(({ formed, extensible }) => formed === undefined && extensible === undefined)
  return isListed && sameSystem(first.provider, next.provider)
}

/** @param run Segments of the same version of a system, without common codes. */
function* joinedRun(run: readonly [Segment, ...Segment[]]): Work<Segment> {
  const order: number[] = []
  const listed = new Map<number, ListedCode>()
  for (const segment of run) {
    yield
    for (const concept of conceptsOf(segment)) {
      order.push(concept)
      const entry = segment.listed?.get(concept)
      if (entry !== undefined) listed.set(concept, entry)
    }
  }
  const { provider } = run[0]
  return { provider, codes: bitmapFrom(order, listable(provider).size), order, ...(listed.size > 0 && { listed }) }
}

/** The codes of any number of segments. The cost of a further segment depends only on its own codes. */
export interface Coverage {
  add(segment: Segment): Work<void>
  /** Returns the codes of a segment that are not covered in the same version of the code system. */
  rest(segment: Segment): Segment
  /** Returns the codes of a segment that are not covered in any version, where equal codes are the same. */
  restOfAnyVersion(segment: Segment): Work<Segment>
  /** Returns the covered codes of a segment, whatever the version; `undefined` when nothing of its code system is covered. */
  common(segment: Segment): Work<Segment | undefined>
}

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
    rest(segment) {
      return without(segment, coveredOf(versionsOf(segment.provider), segment.provider).own)
    },
    *restOfAnyVersion(segment) {
      const versions = versionsOf(segment.provider)
      return without(segment, yield* everyVersion(coveredOf(versions, segment.provider), versions))
    },
    *common(segment) {
      const versions = systems.get(segment.provider.header.url)
      if (versions === undefined) return undefined
      const codes = yield* everyVersion(coveredOf(versions, segment.provider), versions)
      return withCodes(segment, and(segment.codes, codes.bitmap))
    },
  }
}

function without(segment: Segment, { bitmap }: GrowingSet): Segment {
  return bitmap.limit === 0 ? segment : withCodes(segment, andNot(segment.codes, bitmap))
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
