import type { AlternateIdentifier, Comparison, ConceptReference, SearchTerm } from './ast.js'
import { EclError, isDigit, isLetter, type EclReader } from './reader.js'

/** Parses a concept reference: an id, optionally with a term between bars. The term is not compared with the concept's terms. */
export function parseConcept(reader: EclReader): ConceptReference {
  const concept = parseId(reader)
  passTerm(reader)
  return concept
}

/** Parses an id without a term. */
export function parseId(reader: EclReader): ConceptReference {
  const { at } = reader
  const id = reader.run(isDigit)
  if (id === '') reader.fail('A concept')
  if (!/^[1-9][0-9]{5,17}$/.test(id)) throw new EclError(`'${id.slice(0, 30)}' is not a SNOMED CT identifier`, at)
  return { id, at }
}

/** Parses `(id id ...)`. */
export function parseConceptSet(reader: EclReader): readonly ConceptReference[] {
  return parseSet(reader, parseConcept)
}

/** Parses `(item item ...)`, with items separated by spaces. */
export function parseSet<T>(reader: EclReader, item: (reader: EclReader) => T): readonly T[] {
  reader.demand('(')
  const items: T[] = []
  reader.blanks()
  while (!reader.take(')')) {
    items.push(item(reader))
    if (!reader.blanks() && !reader.sees(')')) reader.fail("A blank or ')'")
  }
  if (items.length === 0) reader.fail('An item')
  return items
}

/** Skips a term between bars, if there is one. */
function passTerm(reader: EclReader): void {
  const end = reader.at
  reader.blanks()
  if (!reader.take('|')) return reader.back(end)
  const term = reader.run((character) => character !== '|')
  if (term.trim() === '') reader.fail('A term')
  reader.demand('|')
}

/** Parses `scheme#code`, `"scheme#code"` or `scheme#"code"`, optionally with a term between bars; returns `undefined` for anything else. */
export function parseIdentifier(reader: EclReader): AlternateIdentifier | undefined {
  const { at } = reader
  const isQuoted = reader.take('"')
  const scheme = reader.run((character) => character === '-' || isLetter(character) || isDigit(character))
  if (!/^[a-zA-Z]/.test(scheme) || !reader.take('#')) {
    reader.back(at)
    return undefined
  }
  const code = isQuoted || reader.take('"') ? quotedCode(reader) : reader.run(isCodeCharacter)
  if (code === '') reader.fail('A code')
  passTerm(reader)
  return { scheme, code, at }
}

function quotedCode(reader: EclReader): string {
  const code = reader.run((character) => character !== '"' && character !== '\\')
  reader.demand('"')
  return code
}

function isCodeCharacter(character: string): boolean {
  return isLetter(character) || isDigit(character) || ['-', '.', '_'].includes(character)
}

/** Symbols with their meaning; no symbol may begin with an earlier one. */
const COMPARISONS: readonly (readonly [string, Comparison])[] = [
  ['!=', '!='],
  ['<>', '!='],
  ['<=', '<='],
  ['>=', '>='],
  ['=', '='],
  ['<', '<'],
  ['>', '>'],
]

/** Parses a comparison operator and the white space after it. */
export function parseComparison(reader: EclReader): Comparison {
  const found = COMPARISONS.find(([symbol]) => reader.take(symbol))?.[1] ?? notEqual(reader)
  reader.blanks()
  return found
}

function notEqual(reader: EclReader): Comparison {
  if (!reader.takeWord('not')) reader.fail('A comparison')
  reader.blanks()
  reader.demand('=')
  return '!='
}

/** Parses `=` or `!=`. */
export function parseEquality(reader: EclReader): Comparison {
  const { at } = reader
  const comparison = parseComparison(reader)
  if (comparison === '=' || comparison === '!=') return comparison
  reader.back(at)
  return reader.fail("'=' or '!='")
}

/** Consumes the wildcard. */
export function takeAny(reader: EclReader): boolean {
  return reader.take('*') || reader.takeWord('any')
}

/** Parses a number, after its `#`. */
export function parseNumber(reader: EclReader): number {
  const sign = reader.take('-') ? '-' : reader.take('+') ? '' : ''
  const whole = reader.run(isDigit)
  if (whole === '' || (whole.length > 1 && whole.startsWith('0'))) reader.fail('A number')
  if (!reader.take('.')) return Number(sign + whole)
  const fraction = reader.run(isDigit)
  if (fraction === '') reader.fail('A digit')
  return Number(`${sign}${whole}.${fraction}`)
}

/** Parses `true` or `false`. */
export function parseBoolean(reader: EclReader): boolean {
  if (reader.takeWord('true')) return true
  return reader.takeWord('false') ? false : reader.fail("'true' or 'false'")
}

/** Parses one search term, or a set of them in brackets. */
export function parseSearchTerms(reader: EclReader): readonly SearchTerm[] {
  return reader.sees('(') ? parseSet(reader, parseSearchTerm) : [parseSearchTerm(reader)]
}

/** Parses `"YYYYMMDD"`, `""`, or a set of these in brackets. */
export function parseTimes(reader: EclReader): readonly string[] {
  return reader.sees('(') ? parseSet(reader, parseTime) : [parseTime(reader)]
}

function parseTime(reader: EclReader): string {
  reader.demand('"')
  const digits = reader.run(isDigit)
  if (digits !== '' && !/^[1-9][0-9]{3}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$/.test(digits)) reader.fail('A date as YYYYMMDD')
  reader.demand('"')
  return digits
}

function parseSearchTerm(reader: EclReader): SearchTerm {
  const match = keyword(reader)
  const text = parseQuoted(reader, match === 'wild')
  if (text.trim() === '') reader.fail('A search term')
  return { match, text }
}

function keyword(reader: EclReader): SearchTerm['match'] {
  const found = (['match', 'wild'] as const).find((word) => reader.takeWord(word))
  if (found === undefined) return 'match'
  reader.blanks()
  reader.demand(':')
  reader.blanks()
  return found
}

/** Parses a quoted text. An escaped asterisk keeps its backslash, to distinguish it from a wildcard. */
function parseQuoted(reader: EclReader, keepsAsterisk: boolean): string {
  reader.demand('"')
  let text = ''
  for (;;) {
    text += reader.run((character) => character !== '"' && character !== '\\')
    if (reader.take('"')) return text
    if (reader.take('\\"')) text += '"'
    else if (reader.take('\\\\')) text += keepsAsterisk ? '\\\\' : '\\'
    else if (keepsAsterisk && reader.take('\\*')) text += '\\*'
    else reader.fail('A quotation mark')
  }
}
