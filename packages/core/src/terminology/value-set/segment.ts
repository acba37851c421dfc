import { bitmapFrom, members, type Bitmap } from '../../bits/index.js'
import type { CodeSystemProvider, StandInValueSet } from '../../code-system/index.js'
import { listable } from '../filter/concept-set.js'
import type { Work } from '../../work/index.js'
import type { ListedCode } from './value-set.js'

/** Codes of one version of one code system, in their order. */
export interface Segment {
  readonly provider: CodeSystemProvider
  readonly codes: Bitmap
  /** The order of a list of codes, or of several segments that were joined; that of the code system when absent. */
  readonly order?: readonly number[]
  /** What the value set says about codes that it lists. */
  readonly listed?: ReadonlyMap<number, ListedCode>
  /** The text filter that chose the codes, when one did. */
  readonly filter?: string
  /** Set when codes made by a grammar, which cannot be listed, are in it too: all of them, or some. */
  readonly made?: 'all' | 'some'
  /** True when codes made by a grammar, which are not in it, may satisfy its filters. */
  readonly extensible?: boolean
}

/** The value sets that represent systems whose codes can be neither listed nor counted. */
export function standIns(segments: readonly Segment[]): readonly StandInValueSet[] {
  return segments.flatMap(({ made, provider }) => (made === undefined ? [] : (provider.grammar?.common ?? [])))
}

/** The segment with fewer codes. */
export function withCodes(segment: Segment, codes: Bitmap): Segment {
  return { ...segment, codes }
}

/** The concepts of a segment in order, each once, from the one that has `skip` concepts before it. */
export function conceptsOf({ codes, order }: Segment, skip = 0): Iterable<number> {
  return order === undefined ? members(codes, skip) : listedOf(order, codes, skip)
}

function* listedOf(order: readonly number[], codes: Bitmap, skip: number): Generator<number, void, undefined> {
  let left = skip
  for (const concept of order) {
    if (codes.has(concept) && left-- <= 0) yield concept
  }
}

/** True when both are of the same version of the same code system. */
export function sameSystem(a: CodeSystemProvider, b: CodeSystemProvider): boolean {
  return a.header.url === b.header.url && a.header.version === b.header.version
}

/** Value sets of more segments than this have those of one version of a system that follow each other joined. */
const MANY = 64

/** The same codes in the same order in fewer segments, where there are too many. */
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
  const isListed = [first, next].every(({ made, extensible }) => made === undefined && extensible === undefined)
  return isListed && sameSystem(first.provider, next.provider)
}

/** @param run Segments of one version of a system that have no code in common. */
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
