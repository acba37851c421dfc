import type { ConceptReference, AlternateIdentifier } from './ast.js'
import { EclError, isDigit, type EclReader, isLetter } from './reader.js'

/** Parses a concept reference: an id, optionally with a term between bars. The term is not compared with the term of the concept. */
export function parseConcept(reader: EclReader): ConceptReference {
  const concept = parseId(reader)
  passTerm(reader)
  return concept
}

/** Reads an id without a term. */
export function parseId(reader: EclReader): ConceptReference {
  const { at } = reader
  const id = reader.run(isDigit)
  if (id === '') reader.fail('A concept')
  if (!/^[1-9][0-9]{5,17}$/.test(id)) throw new EclError(`'${id.slice(0, 30)}' is not a SNOMED CT identifier`, at)
  return { id, at }
}

/** Reads `(id id ...)`. */
export function parseConceptSet(reader: EclReader): readonly ConceptReference[] {
  return parseSet(reader, parseConcept)
}

/** Reads `(item item ...)`, items separated by blanks. */
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

/** Skips a term between bars, if one comes next. */
function passTerm(reader: EclReader): void {
  const end = reader.at
  reader.blanks()
  if (!reader.take('|')) return reader.back(end)
  const term = reader.run((character) => character !== '|')
  if (term.trim() === '') reader.fail('A term')
  reader.demand('|')
}

/** Reads `scheme#code`, `"scheme#code"` or `scheme#"code"`, perhaps with a term between bars; `undefined` when none comes next. */
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
