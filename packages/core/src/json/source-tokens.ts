import { isSpace, stringEnd } from './scan.js'

/** Stable identifier of a problem in a JSON text. */
export type JsonProblemKind =
  | 'comment'
  | 'comma-missing'
  | 'comma-extra'
  | 'name-unquoted'
  | 'value-unquoted'
  | 'quote-single'
  | 'duplicate-name'
  | 'number-form'
  | 'control-character'
  | 'escape-invalid'
  | 'unexpected'
  | 'unterminated'
  | 'too-deep'
  | 'too-many'

/** A violation of the JSON grammar. */
export interface JsonProblem {
  readonly kind: JsonProblemKind
  /** Offset of the problem in UTF-16 code units. */
  readonly offset: number
  /** Names and indexes that lead to the value, or to the object or array, with the problem. */
  readonly path: readonly (string | number)[]
  /** The name, value or character that causes the problem; empty at the end of the text. */
  readonly token: string
}

/** A text that is being read. `at` only moves forward. */
export interface SourceReader {
  readonly text: string
  at: number
  /** Reports a problem that was repaired; reading continues. */
  readonly repair: (kind: JsonProblemKind, offset: number, token: string) => void
}

/** Thrown to stop reading a text that cannot be repaired. Never leaves this folder. */
export class JsonFault extends Error {
  readonly kind: JsonProblemKind
  readonly offset: number

  constructor(kind: JsonProblemKind, offset: number) {
    super(kind)
    this.kind = kind
    this.offset = offset
  }
}

const SLASH = 47

/** Skips white space and comments. Returns the next code unit; NaN at the end of the text. */
export function skipSpace(reader: SourceReader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at)
    if (code === SLASH) skipComment(reader)
    else if (isSpace(code)) reader.at++
    else return code
  }
}

function skipComment(reader: SourceReader): void {
  const { text, at } = reader
  const opening = text.slice(at, at + 2)
  if (opening !== '//' && opening !== '/*') throw new JsonFault('unexpected', at)
  reader.repair('comment', at, opening)
  const [closing, after] = opening === '//' ? ['\n', text.length] : ['*/', -1]
  const end = text.indexOf(closing, at + 2)
  if (end < 0 && after < 0) throw new JsonFault('unterminated', at)
  reader.at = end < 0 ? after : end + closing.length
}

const QUOTE = 34
const APOSTROPHE = 39
const BACKSLASH = 92
const SPACE = 32

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** True for a character with which a string may begin, including the apostrophe. */
export function isQuote(code: number): boolean {
  return code === QUOTE || code === APOSTROPHE
}

/** Reads the string that opens at the current position. */
export function readString(reader: SourceReader): string {
  const { text, at } = reader
  const quote = text.charCodeAt(at)
  if (quote === APOSTROPHE) reader.repair('quote-single', at, "'")
  const end = quote === QUOTE ? stringEnd(text, at) : text.indexOf("'", at + 1)
  if (end < 0 || end === text.length) return readEscaped(reader, quote)
  const whole = text.slice(at + 1, end)
  if (NOT_ITSELF.test(whole)) return readEscaped(reader, quote)
  reader.at = end + 1
  return whole.length < SHARED ? whole : unshared(quote === QUOTE ? text.slice(at, end + 1) : JSON.stringify(whole))
}

/** From this length, V8 represents a slice as a reference to the whole string: keeping a resource's canonical URL would keep its whole text in memory. */
const SHARED = 13

/** The value of a string token, which shares no memory with the token. */
function unshared(token: string): string {
  const string: unknown = JSON.parse(token)
  return String(string)
}

/** Matches characters of a string that do not stand for themselves. */
const NOT_ITSELF = /[\\\u0000-\u001f]/

/** Reads a string that contains escapes or control characters, or that is not closed. */
function readEscaped(reader: SourceReader, quote: number): string {
  const { text, at } = reader
  const parts: string[] = []
  let start = at + 1
  let i = start
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      parts.push(text.slice(start, i))
      reader.at = i + 1
      return parts.join('')
    }
    if (code < SPACE) reader.repair('control-character', i, text.charAt(i))
    if (code !== BACKSLASH) continue
    parts.push(text.slice(start, i), unescaped(reader, i))
    i += text.charAt(i + 1) === 'u' && isHex4(text, i + 2) ? 5 : 1
    start = i + 1
  }
  throw new JsonFault('unterminated', at)
}

function unescaped(reader: SourceReader, at: number): string {
  const next = reader.text.charAt(at + 1)
  if (next === 'u' && isHex4(reader.text, at + 2)) return String.fromCharCode(Number.parseInt(reader.text.slice(at + 2, at + 6), 16))
  const known = ESCAPES.get(next)
  if (known === undefined) reader.repair('escape-invalid', at, `\\${next}`)
  return known ?? next
}

function isHex4(text: string, at: number): boolean {
  return /^[0-9a-fA-F]{4}$/.test(text.slice(at, at + 4))
}

const WORD_END = new Set(Array.from(' \t\n\r,:{}[]"\'', (character) => character.charCodeAt(0)))

/** Reads the text up to white space or punctuation; never empty. */
export function readWord(reader: SourceReader): string {
  const { text, at } = reader
  let end = at
  while (end < text.length && !WORD_END.has(text.charCodeAt(end))) end++
  if (end === at) throw new JsonFault(at < text.length ? 'unexpected' : 'unterminated', at)
  reader.at = end
  return text.slice(at, end)
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const ALMOST_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The value of an unquoted word: a literal, a number, or, as a repair, the word itself as a string. */
export function valueOfWord(reader: SourceReader, word: string, offset: number): string | number | boolean | null {
  if (word === 'true') return true
  if (word === 'false') return false
  if (word === 'null') return null
  if (NUMBER.test(word)) return Number(word)
  if (ALMOST_NUMBER.test(word) && Number.isFinite(Number(word))) {
    reader.repair('number-form', offset, word)
    return Number(word)
  }
  reader.repair('value-unquoted', offset, word)
  return unshared(JSON.stringify(word))
}
