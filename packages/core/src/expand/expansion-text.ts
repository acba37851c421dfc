import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { mainText } from '../terminology/index.js'
import { entryOf, extendedElements, type EntryStyle } from './entry.js'
import { declaredProperties, frameOf } from './frame.js'
import { mostOf, wantedMatches } from './page.js'
import { toContains, valueSetWith, type EntryProperty } from './result.js'
import type { Selection } from './selection.js'
import type { Match } from './text-filter.js'

/** Codes that are written at a time: about a hundred thousand characters. */
const CODES_A_PIECE = 1_024

/**
 * The JSON text of the ValueSet of a flat expansion, in pieces: what `toValueSet` makes of its entries, of which only those of a piece are made at a time.
 *
 * @throws {OperationError} `too-costly` when the answer would be longer than `maxAnswerBytes`; as `Pace.step`.
 */
export async function expansionText({ limits }: OperationContext, selection: Selection): Promise<readonly string[]> {
  const { scope, segments, input, style, filtered } = selection
  const properties = new Map<string, EntryProperty>()
  const pieces: string[] = []
  let codes: object[] = []
  let length = 0
  const endPiece = (): void => {
    const piece = JSON.stringify(codes).slice(1, -1)
    codes = []
    length += piece.length
    if (length > limits.maxAnswerBytes)
      throw new OperationError('too-costly', `The expansion would be longer than ${limits.maxAnswerBytes} bytes; page it with count.`)
    pieces.push(piece)
  }
  let left = mostOf(input)
  for (const match of await wantedMatches(scope, segments, { input, style, filtered })) {
    if (left-- <= 0) break
    codes.push(isPlain(match, style) ? plainCode(match, style) : wholeCode(match, style, properties))
    if (codes.length === CODES_A_PIECE) endPiece()
    const wait = scope.pace.step()
    if (wait !== undefined) await wait
  }
  if (codes.length > 0) endPiece()
  return framed(JSON.stringify(valueSetWith(frameOf(selection, declaredProperties(selection, properties.values())), [])), pieces)
}

/** The expansion is the last member of the ValueSet, and its codes that of the expansion. */
function framed(frame: string, pieces: readonly string[]): readonly string[] {
  if (pieces.length === 0) return [frame]
  return pieces.map((piece, at) => {
    const before = at === 0 ? `${frame.slice(0, -2)},"contains":[` : ','
    return `${before}${piece}${at === pieces.length - 1 ? ']}}' : ''}`
  })
}

/** True for a concept of which the expansion says nothing but code and display. */
function isPlain({ segment: { provider, listed }, concept }: Match, { languages, designations, properties }: EntryStyle): boolean {
  if (languages !== undefined || designations !== undefined || properties.length > 0) return false
  const { abstract, inactive, status } = provider.status(concept)
  return !abstract && !inactive && status === undefined && extendedElements(provider, concept, listed?.get(concept)).length === 0
}

/** Members that are `undefined` are not written. */
function plainCode({ segment: { provider, listed }, concept }: Match, { versioned }: EntryStyle): object {
  const { url, version } = provider.header
  return {
    system: url,
    version: versioned.has(url) ? version : undefined,
    code: provider.code(concept),
    display: mainText(provider, concept, listed?.get(concept))?.value,
  }
}

/** @param properties Takes the first of each property of the concept. */
function wholeCode({ segment, concept }: Match, style: EntryStyle, properties: Map<string, EntryProperty>): object {
  const entry = entryOf(segment, concept, style)
  for (const property of entry.properties) if (!properties.has(property.code)) properties.set(property.code, property)
  return toContains(entry)
}
