import { syntaxProblem } from './problem.js'

/** Kinds of tokens. `name` may be a keyword, `quotedName` is never one. `variable` and `special` are without `%` and `$`. */
type TokenKind =
  | 'name'
  | 'quotedName'
  | 'string'
  | 'integer'
  | 'decimal'
  | 'date'
  | 'dateTime'
  | 'time'
  | 'variable'
  | 'special'
  | 'symbol'
  | 'end'

/** A token with its text (quotes and escapes resolved) and the offset where it begins. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
}

/**
 * Splits an expression into tokens, without white space and comments; the last token is `end`.
 *
 * @throws {OperationError} `fhirpath-invalid` for a syntax error.
 * @see https://hl7.org/fhirpath/N1/#lexical-elements
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = skipBlank(source, 0); at < source.length;) {
    const { token, end } = readToken(source, at)
    tokens.push(token)
    at = skipBlank(source, end)
  }
  tokens.push({ kind: 'end', text: '', at: source.length })
  return tokens
}

interface Read {
  readonly token: Token
  readonly end: number
}

const BLANK = /[ \t\r\n\f\u00a0\ufeff]/
const NAME = /[A-Za-z_]\w*/y
const NUMBER = /\d+(?:\.\d+)?/y
const TEMPORAL =
  /@(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?|\d{4}(?:-\d\d(?:-\d\d)?)?(?:T(?:\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)/y
const SYMBOL = /<=|>=|!=|!~|[.,()[\]{}+\-*/&|<>=~]/y

function skipBlank(source: string, from: number): number {
  let at = from
  for (;;) {
    if (BLANK.test(source.charAt(at))) at += 1
    else if (source.startsWith('//', at)) at = lineEnd(source, at)
    else if (source.startsWith('/*', at)) at = commentEnd(source, at)
    else return at
  }
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end < 0 ? source.length : end
}

function commentEnd(source: string, at: number): number {
  const end = source.indexOf('*/', at + 2)
  if (end < 0) throw syntaxProblem('a comment is not closed', source, at)
  return end + 2
}

function readToken(source: string, at: number): Read {
  const first = source.charAt(at)
  if (first === "'" || first === '"') return readQuoted(source, at, 'string')
  if (first === '`') return readQuoted(source, at, 'quotedName')
  if (first === '%') return readVariable(source, at)
  if (first === '$') return readSpecial(source, at)
  if (first === '@') return readTemporal(source, at)
  return readNumber(source, at) ?? readPlain(source, at)
}

function readPlain(source: string, at: number): Read {
  const name = matchAt(NAME, source, at)
  if (name !== undefined) return { token: { kind: 'name', text: name, at }, end: at + name.length }
  const symbol = matchAt(SYMBOL, source, at)
  if (symbol === undefined) throw syntaxProblem('unexpected character', source, at)
  return { token: { kind: 'symbol', text: symbol, at }, end: at + symbol.length }
}

function readNumber(source: string, at: number): Read | undefined {
  const text = matchAt(NUMBER, source, at)
  if (text === undefined) return undefined
  return { token: { kind: text.includes('.') ? 'decimal' : 'integer', text, at }, end: at + text.length }
}

function readVariable(source: string, at: number): Read {
  const next = source.charAt(at + 1)
  if (next === '`' || next === "'" || next === '"') {
    const { token, end } = readQuoted(source, at + 1, 'variable')
    return { token: { ...token, at }, end }
  }
  const name = matchAt(NAME, source, at + 1)
  if (name === undefined) throw syntaxProblem('a variable has no name', source, at)
  const hyphenated = /^(?:vs|ext)$/.test(name) ? name + (matchAt(/-[\w-]+/y, source, at + 1 + name.length) ?? '') : name
  return { token: { kind: 'variable', text: hyphenated, at }, end: at + 1 + hyphenated.length }
}

function readSpecial(source: string, at: number): Read {
  const name = matchAt(NAME, source, at + 1)
  if (name !== 'this' && name !== 'index' && name !== 'total') {
    throw syntaxProblem('$ must be followed by this, index or total', source, at)
  }
  return { token: { kind: 'special', text: name, at }, end: at + 1 + name.length }
}

function readTemporal(source: string, at: number): Read {
  const text = matchAt(TEMPORAL, source, at)
  if (text === undefined) throw syntaxProblem('@ must be followed by a date or time', source, at)
  const kind = text.startsWith('@T') ? 'time' : text.includes('T') ? 'dateTime' : 'date'
  return { token: { kind, text: text.slice(1), at }, end: at + text.length }
}

function readQuoted(source: string, at: number, kind: TokenKind): Read {
  const quote = source.charAt(at)
  let text = ''
  for (let i = at + 1; i < source.length; i++) {
    const char = source.charAt(i)
    if (char === quote) return { token: { kind, text, at }, end: i + 1 }
    if (char === '\\') {
      const escape = readEscape(source, i)
      text += escape.text
      i = escape.end - 1
    } else text += char
  }
  throw syntaxProblem('a quotation is not closed', source, at)
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['f', '\f'],
])

/** Reads an escape. One that the grammar does not define means its character, because HL7 has published some constraints with such escapes. */
function readEscape(source: string, at: number): { text: string; end: number } {
  const letter = source.charAt(at + 1)
  if (letter !== 'u') return { text: ESCAPES.get(letter) ?? letter, end: at + 2 }
  const digits = matchAt(/[0-9A-Fa-f]{4}/y, source, at + 2)
  if (digits === undefined) throw syntaxProblem('the escape \\u needs four hexadecimal digits', source, at)
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), end: at + 6 }
}

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  const sticky = pattern
  sticky.lastIndex = at
  return sticky.exec(source)?.[0]
}
