import type { Limits, OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { LongText, WrittenResponse } from '../operation/index.js'
import { mainText } from '../terminology/index.js'
import { utf8Length } from '../text/index.js'
import { entryOf, extendedElements, type EntryStyle } from './entry.js'
import { declaredProperties, frameOf } from './frame.js'
import { toContains, valueSetWith, type EntryProperty } from './result.js'
import { mostOf, wantedMatches, type Selection } from './selection.js'
import type { Match } from './text-filter.js'

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

/** @throws {OperationError} `too-costly` for an answer of this length. */
export function refuseTooLong({ maxAnswerBytes }: Limits, length: number): void {
  if (length <= maxAnswerBytes) return
  throw new OperationError('too-costly', `The expansion would be longer than ${maxAnswerBytes} bytes; page it with count.`)
}
