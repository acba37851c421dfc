import type { AlternateIdentifier } from './ast.js'
import { passTerm } from './parse-concept.js'
import { isDigit, isLetter, type EclReader } from './reader.js'

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
