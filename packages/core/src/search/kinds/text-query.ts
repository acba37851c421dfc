import type { Condition } from '../../storage/index.js'
import { overBound } from '../bounds.js'
import { allOf, anyOf } from '../filter/conditions.js'
import { unescaped } from '../values/escapes.js'
import { invalidValue, type Ask } from './kind.js'
import { wordsIn } from '../values/words.js'

/** Most words, operators and parentheses of one value. */
const MAX_TOKENS = 100

/**
 * Parses a value of `_text` or `_content`: words, all of which must be there, `and`, `or`, `not` and parentheses, as in
 * `(bone OR liver) and metastases`.
 *
 * @param has The condition that a word is there.
 * @throws {OperationError} `search-invalid` for anything else, `too-costly` for more than 100 words, operators and parentheses.
 * @see https://hl7.org/fhir/R4/search.html#content
 */
export function parseTextQuery(ask: Ask, has: (word: string) => Condition): Condition {
  const tokens: readonly string[] = unescaped(ask.value).match(/[()"]|[^\s()"]+/g) ?? []
  if (tokens.length > MAX_TOKENS) throw overBound(MAX_TOKENS, 'words, operators and parentheses in one text', ask.name)
  if (tokens.includes('"')) throw invalid(ask)
  const reader = { ask, has, tokens, at: 0 }
  const condition = alternatives(reader)
  if (reader.at < tokens.length) throw invalid(ask)
  return condition
}

function invalid(ask: Ask): Error {
  return invalidValue(ask, 'a text of words with and, or, not and parentheses')
}

interface Reader {
  readonly ask: Ask
  readonly has: (word: string) => Condition
  readonly tokens: readonly string[]
  at: number
}

function isNext(reader: Reader, sign: string): boolean {
  return reader.tokens[reader.at]?.toLowerCase() === sign
}

function takes(reader: Reader, sign: string): boolean {
  const isThere = isNext(reader, sign)
  if (isThere) reader.at++
  return isThere
}

function alternatives(reader: Reader): Condition {
  const conditions = [all(reader)]
  while (takes(reader, 'or')) conditions.push(all(reader))
  return anyOf(conditions)
}

function all(reader: Reader): Condition {
  const conditions = [part(reader)]
  while (takes(reader, 'and') || goesOn(reader)) conditions.push(part(reader))
  return allOf(conditions)
}

function goesOn(reader: Reader): boolean {
  return reader.at < reader.tokens.length && !isNext(reader, 'or') && !isNext(reader, ')')
}

function part(reader: Reader): Condition {
  if (takes(reader, 'not')) return { kind: 'not', condition: part(reader) }
  if (!takes(reader, '(')) return words(reader)
  const inner = alternatives(reader)
  if (!takes(reader, ')')) throw invalid(reader.ask)
  return inner
}

function words(reader: Reader): Condition {
  const { ask, has, tokens } = reader
  const found = OPERATORS.has(tokens[reader.at]?.toLowerCase() ?? '') ? [] : wordsIn(tokens[reader.at] ?? '')
  if (found.length === 0) throw invalid(ask)
  reader.at++
  return allOf(found.map(has))
}

const OPERATORS: ReadonlySet<string> = new Set(['and', 'or', ')'])
