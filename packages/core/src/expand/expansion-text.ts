import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { LongText, WrittenResponse } from '../operation/index.js'
import { mainText } from '../terminology/index.js'
import { utf8Length } from '../text/index.js'
import { entryOf, extendedElements, type EntryStyle } from './entry.js'
import { declaredProperties, frameOf } from './frame.js'
import { mostOf, wantedMatches } from './page.js'
import { toContains, valueSetWith, type EntryProperty } from './result.js'
import type { Selection } from './selection.js'
import type { Match } from './text-filter.js'

/** Plain codes that are written at a time: about a hundred thousand characters. */
const CODES_A_PIECE = 1_024
/** A code with more than its display takes the time of this many plain ones. */
const WHOLE_CODE = 8

/** Up to this many codes are written at once, and held until they are sent. */
const CODES_AT_ONCE = 8 * CODES_A_PIECE

/**
 * The JSON text of the ValueSet of a flat expansion, in pieces: what `toValueSet` makes of its entries, of which only those of a piece are made at a time. Of many
 * codes only the length is found out, so that what is too long is refused before the answer begins; each piece is made when it is sent.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`; as `Pace.step`.
 */
export async function expansionText(ctx: OperationContext, selection: Selection): Promise<WrittenResponse['text']> {
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

/** The expansion is the last member of the ValueSet, and its codes that of the expansion. */
const CLOSING = ']}}'

/** The codes of an expansion, to be gone through. */
interface Codes {
  readonly matches: Iterable<Match>
  /** How many of them are returned at most. */
  readonly most: number
  readonly style: EntryStyle
  /** Takes the first of each property of the codes. */
  readonly properties: Map<string, EntryProperty>
}

/** The pieces of few codes. */
async function written(ctx: OperationContext, { scope }: Selection, codes: Codes): Promise<readonly string[]> {
  const pieces: string[] = []
  let length = 0
  for (const piece of piecesOf(codes)) {
    length += piece.length
    refuseTooLong(ctx, length)
    pieces.push(piece)
    await scope.pace.step()
  }
  return pieces
}

/** UTF-8 bytes of many codes, with what is between them. */
async function measured(ctx: OperationContext, { scope }: Selection, { matches, most, style, properties }: Codes): Promise<number> {
  let left = most
  let bytes = -1
  for (const match of matches) {
    if (left-- <= 0) break
    bytes += 1 + (isPlain(match, style) ? plainBytes(match, style) : utf8Length(JSON.stringify(wholeCode(match, style, properties))))
    refuseTooLong(ctx, bytes)
    const wait = scope.pace.step()
    if (wait !== undefined) await wait
  }
  return bytes
}

function refuseTooLong({ limits }: OperationContext, length: number): void {
  if (length <= limits.maxAnswerBytes) return
  throw new OperationError('too-costly', `The expansion would be longer than ${limits.maxAnswerBytes} bytes; page it with count.`)
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
 * The text of codes without the brackets around them.
 *
 * @yields each piece once
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

/** True for a concept of which the expansion says nothing but code and display. */
function isPlain({ segment: { provider, listed }, concept }: Match, { languages, designations, properties }: EntryStyle): boolean {
  if (languages !== undefined || designations !== undefined || properties.length > 0) return false
  const { abstract, inactive, status } = provider.status(concept)
  return !abstract && !inactive && status === undefined && extendedElements(provider, concept, listed?.get(concept)).length === 0
}

/** Members that are `undefined` are not written. */
function plainCode({ segment: { provider, listed }, concept }: Match, { versioned }: EntryStyle): Record<string, string | undefined> {
  const { url, version } = provider.header
  return {
    system: url,
    version: versioned.has(url) ? version : undefined,
    code: provider.code(concept),
    display: mainText(provider, concept, listed?.get(concept))?.value,
  }
}

/** UTF-8 bytes of the text of `plainCode`. */
function plainBytes(match: Match, style: EntryStyle): number {
  const { system, version, code, display } = plainCode(match, style)
  return 1 + memberBytes('system', system) + memberBytes('version', version) + memberBytes('code', code) + memberBytes('display', display)
}

/** A member takes quotation marks around its name, a colon, and a comma or the bracket after it. */
function memberBytes(name: string, value: string | undefined): number {
  return value === undefined ? 0 : name.length + 4 + textBytes(value)
}

const [BLANK, QUOTATION_MARK, BACKSLASH, TILDE] = [0x20, 0x22, 0x5c, 0x7e]

/** UTF-8 bytes of the JSON text of a text. Most have no character that takes more than itself. */
function textBytes(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < BLANK || unit > TILDE || unit === QUOTATION_MARK || unit === BACKSLASH) return utf8Length(JSON.stringify(text))
  }
  return text.length + 2
}

/** @param properties Takes the first of each property of the concept. */
function wholeCode({ segment, concept }: Match, style: EntryStyle, properties: Map<string, EntryProperty>): object {
  const entry = entryOf(segment, concept, style)
  for (const property of entry.properties) if (!properties.has(property.code)) properties.set(property.code, property)
  return toContains(entry)
}
