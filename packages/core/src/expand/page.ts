import { createPace, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { conceptsOf, type Segment, type TerminologyScope } from '../terminology/index.js'
import { entryOf, type EntryStyle } from './entry.js'
import type { ExpandInput } from './expand-input.js'
import type { ExpansionEntry } from './expansion.js'
import { treesOf, type TreeNode } from './nesting.js'
import { firstMatches, type Match } from './text-filter.js'

/** Which entries are wanted, and how. */
export interface PageQuestion {
  readonly input: ExpandInput
  readonly style: EntryStyle
  /** The segment to nest, when the expansion is nested. */
  readonly nested: Segment | undefined
  /** True when a text filter chose the codes. */
  readonly filtered: boolean
}

/**
 * The entries of an expansion, from `offset` on, at most `count`. Other work runs in between.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`.
 */
export async function pageEntries(
  scope: TerminologyScope,
  segments: readonly Segment[],
  { input, style, nested, filtered }: PageQuestion,
): Promise<readonly ExpansionEntry[]> {
  const writer = entryWriter(scope, style)
  if (nested !== undefined) return nestedEntries(writer, nested)
  const entries: ExpansionEntry[] = []
  for (const match of await wantedMatches(scope, segments, { input, style, filtered })) {
    if (entries.length >= mostOf(input)) break
    entries.push(await writer(match))
  }
  return entries
}

/**
 * The entries of matches one after the other, never nested and of any length in all. Their reader decides how long it takes.
 *
 * @yields each entry once
 */
export async function* streamedEntries(
  { signal, scheduler }: OperationContext,
  matches: Iterable<Match>,
  { input, style }: Pick<PageQuestion, 'input' | 'style'>,
): AsyncGenerator<ExpansionEntry, void, undefined> {
  const pace = createPace({ signal, scheduler })
  let left = mostOf(input)
  for (const { segment, concept } of matches) {
    if (left-- <= 0) return
    yield entryOf(segment, concept, style)
    if (pace.due()) await pace.pause()
  }
}

function mostOf({ count }: ExpandInput): number {
  return count ?? Number.POSITIVE_INFINITY
}

/** The matches from `offset` on. */
export async function wantedMatches(
  scope: TerminologyScope,
  segments: readonly Segment[],
  { input, style, filtered }: Omit<PageQuestion, 'nested'>,
): Promise<Iterable<Match>> {
  const skip = input.offset ?? 0
  if (!filtered) return matchesOf(segments, skip)
  return firstMatches(scope, segments, { languages: style.languages, skip, end: skip + mostOf(input) })
}

type EntryWriter = (match: Match) => ExpansionEntry | Promise<ExpansionEntry>

function entryWriter(scope: TerminologyScope, style: EntryStyle): EntryWriter {
  const { maxAnswerBytes } = scope.ctx.limits
  let bytes = 0
  return ({ segment, concept }) => {
    const entry = entryOf(segment, concept, style)
    bytes += lengthOf(entry)
    if (bytes > maxAnswerBytes) {
      throw new OperationError('too-costly', `The expansion would be longer than ${maxAnswerBytes} bytes; ask for it in pages with count.`)
    }
    return scope.pace.due() ? scope.pace.pause().then(() => entry) : entry
  }
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

async function nestedEntries(writer: EntryWriter, segment: Segment): Promise<readonly ExpansionEntry[]> {
  const write = async (node: TreeNode): Promise<ExpansionEntry> => {
    const entry = await writer({ segment, concept: node.concept })
    if (node.children.length === 0) return entry
    const contains: ExpansionEntry[] = []
    for (const child of node.children) contains.push(await write(child))
    return { ...entry, contains }
  }
  const entries: ExpansionEntry[] = []
  for (const root of treesOf(segment)) entries.push(await write(root))
  return entries
}

/** About how many bytes an entry takes in the answer. */
function lengthOf(entry: ExpansionEntry): number {
  const texts = entry.designations.reduce((sum, { value }) => sum + value.length + 60, 0)
  const others = [...entry.properties, ...entry.extensions].length * 100
  return entry.system.length + entry.code.length + (entry.display?.length ?? 0) + 60 + texts + others
}
