import { isObject, isString } from '../../json/index.js'
import type { Condition } from '../../storage/index.js'
import { overBound } from '../bounds.js'
import { allOf, anyOf, entryCondition } from '../filter/conditions.js'
import { unescaped } from '../written-values.js'
import { invalidValue, type Ask, type SearchKind } from './kind.js'
import { fold } from '../../text/index.js'

/**
 * `_text` and `_content`: the words of a narrative, or of all texts of a resource. A single entry has all words, separated by blanks, so that
 * a resource takes one entry however many words it has.
 *
 * @see https://hl7.org/fhir/R4/search.html#content
 */
export const wordsKind: SearchKind = {
  name: 'words',
  codes: ['_content', '_text'],
  fields: (value) => [{ text: ` ${wordsIn(textsIn(value).join(' ')).join(' ')} ` }],
  modifiers: [],
  negatable: false,
  alternatives: ({ value }) => [[{ field: 'text', op: 'contains', operand: ` ${value} ` }]],
  condition: (param, ask) => parseTextQuery(ask, (value) => entryCondition(param, wordsKind.alternatives({ ...ask, value }))),
  sortField: () => undefined,
}

/** A longer run of characters without a blank is data, not text. */
const MAX_RUN = 256

function textsIn(value: unknown): readonly string[] {
  if (isString(value)) return value.length > MAX_RUN && !/\s/.test(value) ? [] : [withoutMarkup(value)]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}

/** Removes the tags of a text. */
function withoutMarkup(text: string): string {
  const [first = '', ...others] = text.split('<')
  if (others.length === 0) return text
  const visible = [first, ...others.map((piece) => piece.slice(piece.indexOf('>') + 1))].join(' ')
  return visible.replace(/&#(\d{1,7});/g, (_, code: string) => character(Number(code))).replace(/&[a-z]{1,8};/g, ' ')
}

function character(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' '
}

/** Maximum number of words, operators and parentheses in one value. */
const MAX_TOKENS = 100

/**
 * Parses a value of `_text` or `_content`: words, all of which must occur, `and`, `or`, `not` and parentheses, as in
 * `(bone OR liver) and metastases`.
 *
 * @param has Creates the condition that a word occurs.
 * @throws {OperationError} `search-invalid` for any other syntax, `too-costly` for more than 100 words, operators and parentheses.
 * @see https://hl7.org/fhir/R4/search.html#content
 */
function parseTextQuery(ask: Ask, has: (word: string) => Condition): Condition {
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

interface WordReader {
  readonly ask: Ask
  readonly has: (word: string) => Condition
  readonly tokens: readonly string[]
  at: number
}

function isNext(reader: WordReader, sign: string): boolean {
  return reader.tokens[reader.at]?.toLowerCase() === sign
}

function takes(reader: WordReader, sign: string): boolean {
  const isThere = isNext(reader, sign)
  if (isThere) reader.at++
  return isThere
}

function alternatives(reader: WordReader): Condition {
  const conditions = [all(reader)]
  while (takes(reader, 'or')) conditions.push(all(reader))
  return anyOf(conditions)
}

function all(reader: WordReader): Condition {
  const conditions = [part(reader)]
  while (takes(reader, 'and') || goesOn(reader)) conditions.push(part(reader))
  return allOf(conditions)
}

function goesOn(reader: WordReader): boolean {
  return reader.at < reader.tokens.length && !isNext(reader, 'or') && !isNext(reader, ')')
}

function part(reader: WordReader): Condition {
  if (takes(reader, 'not')) return { kind: 'not', condition: part(reader) }
  if (!takes(reader, '(')) return words(reader)
  const inner = alternatives(reader)
  if (!takes(reader, ')')) throw invalid(reader.ask)
  return inner
}

function words(reader: WordReader): Condition {
  const { ask, has, tokens } = reader
  const found = OPERATORS.has(tokens[reader.at]?.toLowerCase() ?? '') ? [] : wordsIn(tokens[reader.at] ?? '')
  if (found.length === 0) throw invalid(ask)
  reader.at++
  return allOf(found.map(has))
}

const OPERATORS: ReadonlySet<string> = new Set(['and', 'or', ')'])

/** Nobody searches for longer words. */
const MAX_WORD = 64

/** Returns the distinct words of a text, folded: runs of letters, with their marks, and digits. */
export function wordsIn(text: string): readonly string[] {
  const words = fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return [...new Set(words)].filter((word) => word.length <= MAX_WORD)
}
