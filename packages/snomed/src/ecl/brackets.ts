import { EclError, type EclReader } from './reader.js'

/** Brackets in brackets beyond this are refused. */
const MAX_DEPTH = 100

/** @throws {EclError} when brackets and braces are nested too deeply to be read. */
export function refuseDeepBrackets(text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '(' || character === '{') depth++
    else if ((character === ')' || character === '}') && depth > 0) depth--
    if (depth > MAX_DEPTH) throw new EclError('The brackets are nested too deeply', at)
  }
}

/** What the brackets at this position contain: the name of an attribute, as a comparison or a filter follows, or a part of the refinement. */
export function bracketsHoldName(reader: EclReader): boolean {
  const { at } = reader
  passBrackets(reader)
  reader.blanks()
  const isName = reader.seesWord('not') || ['=', '!=', '<', '>', '{{'].some((text) => reader.sees(text))
  reader.back(at)
  return isName
}

function passBrackets(reader: EclReader): void {
  let depth = 0
  do {
    reader.run((character) => !'()"|/'.includes(character))
    if (reader.take('(')) depth++
    else if (reader.take(')')) depth--
    else if (reader.sees('/')) passSlash(reader)
    else if (reader.take('|')) passUntil(reader, '|')
    else if (reader.take('"')) passText(reader)
  } while (depth > 0 && !reader.ended)
}

function passUntil(reader: EclReader, end: string): void {
  reader.run((character) => character !== end)
  reader.take(end)
}

function passText(reader: EclReader): void {
  while (!reader.ended) {
    reader.run((character) => character !== '"' && character !== '\\')
    if (reader.take('"')) return
    if (!reader.take('\\\\') && !reader.take('\\"')) reader.take('\\')
  }
}

function passSlash(reader: EclReader): void {
  if (!reader.blanks()) reader.take('/')
}
