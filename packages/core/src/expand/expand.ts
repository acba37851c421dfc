import { createPace, explained, pacedText, type OperationContext, type Limits, type Pace } from '../context/index.js'
import type { WrittenResponse, LongText } from '../operation/index.js'
import { nameOf, refusal, mainText, conceptsOf, members, type PartPlan, type Segment } from '../terminology/index.js'
import { declaredProperties, frameOf, possibleProperties, propertiesIn, type ExpansionFrame } from './frame.js'
import type { ExpandInput } from './input.js'
import { writingValueSet, toContains, valueSetWith, type ExpandResult, type ExpansionEntry, type EntryProperty } from './result.js'
import { selectedCodes, type Selection } from './selection.js'
import { utf8Length } from '../text/index.js'
import { entryOf, extendedElements, type EntryStyle } from './entry.js'
import { type Match, firstMatches } from './text-filter.js'
import { OperationError } from '../errors/index.js'

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

/** Number of plain codes in one piece: about a hundred thousand characters. */
const CODES_A_PIECE = 1_024
/** A code with more than its display takes as long as this many plain ones. */
const WHOLE_CODE = 8

/** Up to this many codes are all written first and held until they are sent. */
const CODES_AT_ONCE = 8 * CODES_A_PIECE

/**
 * Writes the ValueSet of a flat expansion as JSON text in pieces, as `toValueSet` would. Only the entries of one piece exist at a time. For many codes,
 * only the length is computed first, so that too long an answer is refused before it begins; each piece is then written when it is sent.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`; as `Pace.step`.
 */
async function expansionText(ctx: OperationContext, selection: Selection): Promise<WrittenResponse['text']> {
  const { input, style, total } = selection
  const most = mostOf(input)
  const matches = await wantedMatches(selection)
  const codes: Codes = { matches, most, style, properties: new Map() }
  const isLong = Math.min(most, total - (input.offset ?? 0)) > CODES_AT_ONCE
  const bytes = isLong ? await measured(ctx, selection, codes) : 0
  const pieces = isLong ? [] : await written(ctx, selection, codes)
  const properties = declaredProperties(selection, codes.properties.values())
  const frame = JSON.stringify(valueSetWith(frameOf(selection, properties), []))
  if (!isLong && pieces.length === 0) return [frame]
  const opening = `${frame.slice(0, -CLOSING.length + 1)},"contains":[`
  if (isLong) return longText(codes, opening, utf8Length(opening) + bytes + CLOSING.length)
  return pieces.map((piece, at) => `${at === 0 ? opening : ','}${piece}${at === pieces.length - 1 ? CLOSING : ''}`)
}

/** The expansion is the last member of the ValueSet, and its codes are the last member of the expansion. */
const CLOSING = ']}}'

/** The codes of an expansion to write. */
interface Codes {
  readonly matches: Iterable<Match>
  /** Maximum number of codes to return. */
  readonly most: number
  readonly style: EntryStyle
  /** Collects the first occurrence of each property of the codes. */
  readonly properties: Map<string, EntryProperty>
}

/** Writes all pieces, for few codes. */
async function written(ctx: OperationContext, { scope }: Selection, codes: Codes): Promise<readonly string[]> {
  const pieces: string[] = []
  let length = 0
  for (const piece of piecesOf(codes)) {
    length += piece.length
    refuseTooLong(ctx.limits, length)
    pieces.push(piece)
    await scope.pace.step()
  }
  return pieces
}

/** Computes the UTF-8 bytes of many codes, including the commas between them. */
async function measured(ctx: OperationContext, { scope }: Selection, { matches, most, style, properties }: Codes): Promise<number> {
  let left = most
  let bytes = -1
  for (const match of matches) {
    if (left-- <= 0) break
    bytes += 1 + (isPlain(match, style) ? plainBytes(match, style) : utf8Length(JSON.stringify(wholeCode(match, style, properties))))
    refuseTooLong(ctx.limits, bytes)
    const wait = scope.pace.step()
    if (wait !== undefined) await wait
  }
  return bytes
}

function longText(codes: Codes, opening: string, bytes: number): LongText {
  return {
    bytes,
    *[Symbol.iterator]() {
      let before = opening
      for (const piece of piecesOf(codes)) {
        yield before + piece
        before = ','
      }
      yield CLOSING
    },
  }
}

/**
 * Writes the codes without the brackets around them.
 *
 * @yields Each piece once.
 */
function* piecesOf({ matches, most, style, properties }: Codes): Generator<string, void, undefined> {
  let left = most
  let codes: object[] = []
  let size = 0
  for (const match of matches) {
    if (left-- <= 0) break
    const plain = isPlain(match, style)
    codes.push(plain ? plainCode(match, style) : wholeCode(match, style, properties))
    size += plain ? 1 : WHOLE_CODE
    if (size < CODES_A_PIECE) continue
    yield JSON.stringify(codes).slice(1, -1)
    codes = []
    size = 0
  }
  if (codes.length > 0) yield JSON.stringify(codes).slice(1, -1)
}

/** True for a concept whose entry has only code and display. */
function isPlain({ segment: { provider, listed }, concept }: Match, { languages, designations, properties }: EntryStyle): boolean {
  if (languages !== undefined || designations !== undefined || properties.length > 0) return false
  const { abstract, inactive, status } = provider.status(concept)
  return !abstract && !inactive && status === undefined && extendedElements(provider, concept, listed?.get(concept)).length === 0
}

/** Returns the entry of a plain code. Members that are `undefined` are not written. */
function plainCode({ segment: { provider, listed }, concept }: Match, { versioned }: EntryStyle): Record<string, string | undefined> {
  const { url, version } = provider.header
  return {
    system: url,
    version: versioned.has(url) ? version : undefined,
    code: provider.code(concept),
    display: mainText(provider, concept, listed?.get(concept))?.value,
  }
}

/** Computes the UTF-8 bytes of the JSON text of `plainCode`. */
function plainBytes(match: Match, style: EntryStyle): number {
  const { system, version, code, display } = plainCode(match, style)
  return 1 + memberBytes('system', system) + memberBytes('version', version) + memberBytes('code', code) + memberBytes('display', display)
}

/** A member takes quotation marks around its name, a colon, and a comma or the bracket after it. */
function memberBytes(name: string, value: string | undefined): number {
  return value === undefined ? 0 : name.length + 4 + textBytes(value)
}

const [BLANK, QUOTATION_MARK, BACKSLASH, TILDE] = [0x20, 0x22, 0x5c, 0x7e]

/** Computes the UTF-8 bytes of a text as JSON. Most texts have only characters that take one byte and no escape. */
function textBytes(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < BLANK || unit > TILDE || unit === QUOTATION_MARK || unit === BACKSLASH) return utf8Length(JSON.stringify(text))
  }
  return text.length + 2
}

/** @param properties Collects the first occurrence of each property of the concept. */
function wholeCode({ segment, concept }: Match, style: EntryStyle, properties: Map<string, EntryProperty>): object {
  const entry = entryOf(segment, concept, style)
  for (const property of entry.properties) if (!properties.has(property.code)) properties.set(property.code, property)
  return toContains(entry)
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

/** Returns the maximum number of codes to return. */
function mostOf({ count }: ExpandInput): number {
  return count ?? Number.POSITIVE_INFINITY
}

/** Returns the matches from `offset` on. They can be iterated several times. */
async function wantedMatches({ scope, segments, input, style, filtered }: Selection): Promise<Iterable<Match>> {
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
function refuseTooLong({ maxAnswerBytes }: Limits, length: number): void {
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
