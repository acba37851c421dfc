import { createPace, type Limits, type Pace } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { conceptsOf, members, type PartPlan, type Segment } from '../terminology/index.js'
import { entryOf } from './entry.js'
import type { ExpandInput } from './input.js'
import type { ExpansionEntry } from './result.js'
import type { Selection } from './selection.js'
import { firstMatches, type Match } from './text-filter.js'

/**
 * Creates the entries of an expansion, from `offset` on, at most `count`. Other work runs in between.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`.
 */
export async function pageEntries(selection: Selection): Promise<readonly ExpansionEntry[]> {
  const { pace } = selection.scope
  const writer = entryWriter(selection)
  const nested = nestedSegment(selection)
  if (nested !== undefined) return nestedEntries(writer, nested, pace)
  const entries: ExpansionEntry[] = []
  const most = mostOf(selection.input)
  for (const match of await wantedMatches(selection)) {
    if (entries.length >= most) break
    entries.push(writer(match))
    const wait = pace.step()
    if (wait !== undefined) await wait
  }
  return entries
}

/**
 * Streams the entries of an expansion, never nested and without a limit on the total length. After the first entry, the reader decides how long it takes.
 *
 * @returns Each entry once.
 */
export async function streamedEntries(selection: Selection): Promise<AsyncIterable<ExpansionEntry>> {
  return entriesInTurn(selection, await wantedMatches(selection))
}

async function* entriesInTurn(
  { scope, input, style }: Selection,
  matches: Iterable<Match>,
): AsyncGenerator<ExpansionEntry, void, undefined> {
  const { signal, scheduler } = scope.ctx
  const pace = createPace({ signal, scheduler })
  let left = mostOf(input)
  for (const { segment, concept } of matches) {
    if (left-- <= 0) return
    yield entryOf(segment, concept, style)
    await pace.step()
  }
}

/** Returns the maximum number of codes to return. */
export function mostOf({ count }: ExpandInput): number {
  return count ?? Number.POSITIVE_INFINITY
}

/** Returns the matches from `offset` on. They can be iterated several times. */
export async function wantedMatches({ scope, segments, input, style, filtered }: Selection): Promise<Iterable<Match>> {
  const skip = input.offset ?? 0
  if (!filtered) return { [Symbol.iterator]: () => matchesOf(segments, skip) }
  return firstMatches(scope, segments, { languages: style.languages, skip, end: skip + mostOf(input) })
}

type EntryWriter = (match: Match) => ExpansionEntry

function entryWriter({ scope, style }: Selection): EntryWriter {
  let bytes = 0
  return ({ segment, concept }) => {
    const entry = entryOf(segment, concept, style)
    bytes += lengthOf(entry)
    refuseTooLong(scope.ctx.limits, bytes)
    return entry
  }
}

/** @throws {OperationError} `too-costly` for an answer of this length. */
export function refuseTooLong({ maxAnswerBytes }: Limits, length: number): void {
  if (length <= maxAnswerBytes) return
  throw new OperationError('too-costly', `The expansion would be longer than ${maxAnswerBytes} bytes; page it with count.`)
}

function* matchesOf(segments: readonly Segment[], skip: number): Generator<Match> {
  let left = skip
  for (const segment of segments) {
    const count = segment.codes.count()
    if (left >= count) {
      left -= count
      continue
    }
    for (const concept of conceptsOf(segment, left)) yield { segment, concept }
    left = 0
  }
}

/** Creates the codes of a segment as trees. The children of an excluded code take its place. */
async function nestedEntries(writer: EntryWriter, segment: Segment, pace: Pace): Promise<readonly ExpansionEntry[]> {
  const { hierarchy } = segment.provider
  const roots: ExpansionEntry[] = []
  const open: OpenEntry[] = []
  for (const concept of members(segment.codes)) {
    while (open.length > 0 && !hierarchy.isWithin(concept, open.at(-1)?.concept ?? 0)) open.pop()
    const contains: ExpansionEntry[] = []
    const siblings = open.at(-1)?.contains ?? roots
    siblings.push({ ...writer({ segment, concept }), contains })
    open.push({ concept, contains })
    const wait = pace.step()
    if (wait !== undefined) await wait
  }
  return roots
}

/** An entry that may be a parent of the next one. */
interface OpenEntry {
  readonly concept: number
  readonly contains: ExpansionEntry[]
}

/** Estimates the bytes of an entry in the answer. */
function lengthOf(entry: ExpansionEntry): number {
  const texts = entry.designations.reduce((sum, { value }) => sum + value.length + 60, 0)
  const others = (entry.properties.length + entry.extensions.length) * 100
  return entry.system.length + entry.code.length + (entry.display?.length ?? 0) + 60 + texts + others
}

const HIERARCHIC: ReadonlySet<string> = new Set(['is-a', 'descendent-of'])

/**
 * Returns the segment to nest; `undefined` for a flat expansion. Nested are expansions that are neither paged nor requested flat, with one include of a
 * whole hierarchical code system or one of its branches, and without excludes. A text filter over a whole code system makes the list flat.
 */
export function nestedSegment({ segments: [segment], input, plan, filtered }: Selection): Segment | undefined {
  if (input.count !== undefined || input.offset !== undefined || input.excludeNested === true) return undefined
  const [include, ...more] = plan.includes
  if (include === undefined || more.length > 0 || plan.excludes.length > 0 || segment === undefined) return undefined
  return isBranch(include, filtered) && segment.provider.hierarchy.nested ? segment : undefined
}

function isBranch({ definition, imports, filters }: PartPlan, filtered: boolean): boolean {
  if (definition.concepts !== undefined || imports.length > 0) return false
  if (filters.length === 0) return !filtered
  return filters.every(({ op }) => HIERARCHIC.has(op))
}
