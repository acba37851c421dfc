import { createPace, explained, pacedText, type OperationContext, type Pace } from '../context/index.js'
import type { WrittenResponse } from '../operation/index.js'
import { members, nameOf, refusal, type PartPlan, type Segment } from '../terminology/index.js'
import { entryOf } from './entry.js'
import { expansionText, refuseTooLong } from './expansion-text.js'
import { declaredProperties, frameOf, possibleProperties, propertiesIn, type ExpansionFrame } from './frame.js'
import type { ExpandInput } from './input.js'
import { writingValueSet, type ExpandResult, type ExpansionEntry } from './result.js'
import { mostOf, selectedCodes, wantedMatches, type Selection } from './selection.js'
import type { Match } from './text-filter.js'

/**
 * Lists the codes of a value set.
 *
 * @param ctx Provides definitions and limits. Use `forRequest` to add definitions that came with a request.
 * @returns All codes, or the requested page, in the order of the definition; nested where the value set is one branch of a code
 *   system, no page was requested and `excludeNested` is not set. In other value sets, a text filter sorts codes by relevance.
 * @throws {OperationError} `not-found` for an unknown value set; `content-not-found` for an unknown code system, version, import or
 *   supplement; `unprocessable` for circular imports or a forbidden version; `definition-invalid` for a value set that cannot be
 *   used; `not-supported` for an unknown filter; `too-costly` for more codes than `maxExpansion` when no `count` was given, or
 *   an answer of more than `maxAnswerBytes`.
 * @see https://hl7.org/fhir/R4/valueset-operation-expand.html
 */
export function expand(ctx: OperationContext, input: ExpandInput): Promise<ExpandResult> {
  return explained(ctx, input, async (own) => entriesOf(await selectWithinLimit(own, input)))
}

/**
 * Expands a value set to the JSON text that `toValueSet` would produce, in pieces. A flat expansion is written without creating its entries.
 *
 * @throws {OperationError} As `expand`.
 */
export async function expandToText(ctx: OperationContext, input: ExpandInput): Promise<WrittenResponse['text']> {
  if (input.explain === true) return [await valueSetText(ctx, await expand(ctx, input))]
  const selection = await selectWithinLimit(ctx, input)
  return nestedSegment(selection) === undefined ? expansionText(ctx, selection) : [await valueSetText(ctx, await entriesOf(selection))]
}

async function valueSetText(ctx: OperationContext, result: ExpandResult): Promise<string> {
  const resource = await createPace(ctx).run(writingValueSet(result))
  return pacedText(ctx, { ...resource })
}

/** @throws {OperationError} `too-costly` for more codes than `maxExpansion` when no `count` was given. */
async function selectWithinLimit(ctx: OperationContext, input: ExpandInput): Promise<Selection> {
  const selection = await selectedCodes(ctx, input)
  refuseTooMany(ctx, selection)
  return selection
}

async function entriesOf(selection: Selection): Promise<ExpandResult> {
  const contains = await pageEntries(selection)
  return { ...frameOf(selection, declaredProperties(selection, propertiesIn(contains))), contains }
}

/**
 * Streams the codes of a value set, without holding the whole answer in memory and without a limit on their number. The order is that of `expand` with
 * `excludeNested`: the order of the definition or, with a text filter, the best match first.
 *
 * @param input As for `expand`, including `offset` and `count`.
 * @yields Each code once.
 * @throws {OperationError} As `expand`, but never `too-costly` for the number of codes; `aborted` also between two codes. The time limit applies only
 *   up to the first code, because from then on the reader sets the pace.
 */
export async function* expandStream(ctx: OperationContext, input: ExpandInput): AsyncGenerator<ExpansionEntry, void, undefined> {
  yield* (await openExpansion(ctx, input)).entries
}

/** An expansion whose codes are streamed, never nested. */
export interface StreamedExpansion extends ExpansionFrame {
  /** Each code once. Can be iterated only once. */
  readonly entries: AsyncIterable<ExpansionEntry>
}

/** Like `expandStream`, but also returns the header of the expansion, before the first code. @throws {OperationError} As `expandStream`. */
export async function openExpansion(ctx: OperationContext, input: ExpandInput): Promise<StreamedExpansion> {
  const selection = await selectedCodes(ctx, input)
  const entries = await streamedEntries(selection)
  return { ...frameOf(selection, possibleProperties(selection)), entries }
}

function refuseTooMany({ limits }: OperationContext, { input, total, plan }: Selection): void {
  if (input.count !== undefined || total - (input.offset ?? 0) <= limits.maxExpansion) return
  // A value set that came with the request is the only one with its url, so its version adds nothing.
  const name = input.valueSet === undefined ? undefined : plan.valueSet.url
  const values = { valueSet: name ?? nameOf(plan.valueSet), limit: String(limits.maxExpansion) }
  throw refusal('VALUESET_TOO_COSTLY', values, { diagnostics: 'Ask for it in pages with count and offset.' })
}

/**
 * Creates the entries of an expansion, from `offset` on, at most `count`. Other work runs in between.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`.
 */
async function pageEntries(selection: Selection): Promise<readonly ExpansionEntry[]> {
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
async function streamedEntries(selection: Selection): Promise<AsyncIterable<ExpansionEntry>> {
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
function nestedSegment({ segments: [segment], input, plan, filtered }: Selection): Segment | undefined {
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
