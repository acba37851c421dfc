import { JsonFault, type SourceReader } from './source-reader.js'

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

/** True for what a string may begin with, apostrophes included. */
export function isQuote(code: number): boolean {
  return code === QUOTE || code === APOSTROPHE
}

/** The string at whose opening quote the reader stands. */
export function readString(reader: SourceReader): string {
  const { text, at } = reader
  const quote = text.charCodeAt(at)
  if (quote === APOSTROPHE) reader.slip('quote-single', at, "'")
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      reader.at = i + 1
      return text.slice(at + 1, i)
    }
    if (code === BACKSLASH || code < SPACE) return readEscaped(reader, quote, i)
  }
  throw new JsonFault('unterminated', at)
}

/** Goes on from the first character that does not stand for itself. */
function readEscaped(reader: SourceReader, quote: number, first: number): string {
  const { text, at } = reader
  const parts = [text.slice(at + 1, first)]
  let start = first
  let i = first
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      parts.push(text.slice(start, i))
      reader.at = i + 1
      return parts.join('')
    }
    if (code < SPACE) reader.slip('control-character', i, text.charAt(i))
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
  if (known === undefined) reader.slip('escape-invalid', at, `\\${next}`)
  return known ?? next
}

function isHex4(text: string, at: number): boolean {
  return /^[0-9a-fA-F]{4}$/.test(text.slice(at, at + 4))
}

const WORD_END = new Set(Array.from(' \t\n\r,:{}[]"\'', (character) => character.charCodeAt(0)))

/** The text up to white space or punctuation; never empty. */
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

/** What an unquoted value means: a literal, a number, or, as a slip, its own text. */
export function valueOfWord(reader: SourceReader, word: string, offset: number): string | number | boolean | null {
  if (word === 'true') return true
  if (word === 'false') return false
  if (word === 'null') return null
  if (NUMBER.test(word)) return Number(word)
  if (ALMOST_NUMBER.test(word) && Number.isFinite(Number(word))) {
    reader.slip('number-form', offset, word)
    return Number(word)
  }
  reader.slip('value-unquoted', offset, word)
  return word
}
