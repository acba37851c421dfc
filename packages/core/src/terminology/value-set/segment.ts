import { and, andNot, bitmapFrom, members, or, type Bitmap } from '../bitmap.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import { listable } from '../filter/concept-set.js'
import type { ListedCode, ValueSetDefinition } from './value-set.js'

/** Codes of one version of one code system, in their order. */
export interface Segment {
  readonly provider: CodeSystemProvider
  readonly codes: Bitmap
  /** The order of a list of codes; that of the code system when absent. */
  readonly order?: readonly number[]
  /** What the value set says about codes that it lists. */
  readonly listed?: ReadonlyMap<number, ListedCode>
  /** The text filter that chose the codes, when one did. */
  readonly filter?: string
  /** Set when codes made by a grammar, which cannot be listed, are in it too: all of them, or some. */
  readonly made?: 'all' | 'some'
}

/** The value sets that stand for systems whose codes can be neither listed nor counted. */
export function standIns(segments: readonly Segment[]): readonly ValueSetDefinition[] {
  return segments.flatMap(({ made, provider }) => (made === undefined ? [] : (provider.grammar?.common ?? [])))
}

/** The segment with fewer codes. */
export function withCodes(segment: Segment, codes: Bitmap): Segment {
  return { ...segment, codes }
}

/**
 * The concepts of a segment in order, from the one that has `skip` concepts before it.
 *
 * @yields each concept once
 */
export function* conceptsOf(segment: Segment, skip = 0): Generator<number, void, undefined> {
  if (segment.order === undefined) return yield* members(segment.codes, skip)
  let left = skip
  for (const concept of segment.order) {
    if (segment.codes.has(concept) && left-- <= 0) yield concept
  }
}

/** True when both are of the same version of the same code system. */
export function sameSystem(a: CodeSystemProvider, b: CodeSystemProvider): boolean {
  return a.header.url === b.header.url && a.header.version === b.header.version
}

/** The codes of another segment as concepts of this provider; by code where the versions differ. */
export function codesIn(provider: CodeSystemProvider, other: Segment): Bitmap {
  if (sameSystem(provider, other.provider)) return other.codes
  const { size } = listable(provider)
  return bitmapFrom(translated(provider, other), size)
}

/** What is left of segments when codes of others go; both sides must be of the same code system, and of the same version unless `anyVersion`. */
export function without(segments: readonly Segment[], others: readonly Segment[], anyVersion: boolean): readonly Segment[] {
  return segments.map((segment) => {
    const against = others.filter((other) => isComparable(segment, other, anyVersion))
    return against.reduce((rest, other) => withCodes(rest, andNot(rest.codes, codesIn(rest.provider, other))), segment)
  })
}

/** All codes of segments, in one for each version of a system: what `without` needs of many others. */
export function coverOf(segments: readonly Segment[]): readonly Segment[] {
  const covered: Segment[] = []
  for (const segment of segments) cover(covered, segment)
  return covered
}

/** Adds the codes of a segment to those that are covered, which have one segment for each version of a system. */
export function cover(covered: Segment[], segment: Segment): void {
  const at = covered.findIndex(({ provider }) => sameSystem(provider, segment.provider))
  const before = covered[at]
  if (before === undefined) covered.push(segment)
  else covered[at] = withCodes(before, or(before.codes, segment.codes))
}

/** The codes of segments that others have too, whatever their version. */
export function within(segments: readonly Segment[], others: readonly Segment[]): readonly Segment[] {
  return segments.flatMap((segment) => {
    const [first, ...more] = others.filter((other) => isComparable(segment, other, true)).map((other) => codesIn(segment.provider, other))
    return first === undefined ? [] : [withCodes(segment, and(segment.codes, more.reduce(or, first)))]
  })
}

function isComparable(a: Segment, b: Segment, anyVersion: boolean): boolean {
  return anyVersion ? a.provider.header.url === b.provider.header.url : sameSystem(a.provider, b.provider)
}

function* translated(provider: CodeSystemProvider, other: Segment): Generator<number> {
  for (const concept of members(other.codes)) {
    const same = provider.find(other.provider.code(concept))
    if (same !== undefined) yield same
  }
}
