import { bitmapFrom, members, type Bitmap } from '../../bits/index.js'
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
