import { OperationError, quoted } from '../errors/index.js'

/** True for a word character, `[A-Za-z0-9_]`. */
export function isWordChar(codePoint: number): boolean {
  return (
    (codePoint >= 0x61 && codePoint <= 0x7a) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    codePoint === 0x5f
  )
}

/** The class of an escape with one letter; an upper-case letter means the complement. */
function escapedClass(letter: string): CharTest | undefined {
  const test = ESCAPED_CLASSES.get(letter.toLowerCase())
  if (test === undefined) return undefined
  return letter === letter.toLowerCase() ? test : not(test)
}

/** The class `\p{name}`: a Unicode general category, or one of a few scripts and binary properties. */
function unicodeClass(name: string): CharTest | undefined {
  const value = name.replace(/^(?:General_Category|gc|Script|sc)=/, '')
  if (!CATEGORIES.has(value) && !SCRIPTS.has(value)) return undefined
  const pattern = new RegExp(SCRIPTS.has(value) ? `\\p{Script=${value}}` : `\\p{${value}}`, 'u')
  return (codePoint) => pattern.test(String.fromCodePoint(codePoint))
}

function not(test: CharTest): CharTest {
  return (codePoint) => !test(codePoint)
}

/** Extends a test so that it ignores case. */
export function ignoringCase(test: CharTest): CharTest {
  return (codePoint) => test(codePoint) || test(otherCase(codePoint))
}

/** The upper-case form of a lower-case letter and vice versa; the character itself if that form does not exist, or has more than one character. */
function otherCase(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  const small = character.toLowerCase()
  const other = small === character ? character.toUpperCase() : small
  const code = other.codePointAt(0) ?? codePoint
  return other === String.fromCodePoint(code) ? code : codePoint
}

export function range(from: number, to: number): CharTest {
  return (codePoint) => codePoint >= from && codePoint <= to
}

function anyOf(tests: readonly CharTest[]): CharTest {
  return (codePoint) => tests.some((test) => test(codePoint))
}

const ESCAPED_CLASSES: ReadonlyMap<string, CharTest> = new Map<string, CharTest>([
  ['d', range(0x30, 0x39)],
  ['w', isWordChar],
  ['s', (codePoint) => /\s/u.test(String.fromCodePoint(codePoint))],
  ['h', (codePoint) => codePoint === 0x09 || /\p{Zs}/u.test(String.fromCodePoint(codePoint))],
  ['i', (codePoint) => codePoint === 0x3a || codePoint === 0x5f || /\p{L}/u.test(String.fromCodePoint(codePoint))],
  ['c', (codePoint) => /[:_.\-\u00b7\p{L}\p{Nd}\p{M}]/u.test(String.fromCodePoint(codePoint))],
])

const CATEGORIES: ReadonlySet<string> = new Set(
  (
    'L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cn ' +
    'Alphabetic Uppercase Lowercase White_Space ASCII Any'
  ).split(' '),
)

const SCRIPTS: ReadonlySet<string> = new Set('Latin Greek Cyrillic Arabic Hebrew Han Hiragana Katakana'.split(' '))

/** Either one character, which may begin a range, or a class of characters. */
type ClassAtom = number | CharTest

/**
 * Parses a character class after its opening bracket, with XML Schema subtraction (`[a-z-[aeiou]]`).
 *
 * @param cased Applied to the listed characters, before negation.
 */
export function parseClass(reader: PatternReader, cased: (test: CharTest) => CharTest): CharTest {
  const negated = reader.take('^')
  const tests: CharTest[] = []
  let without: CharTest | undefined
  for (let first = true; first || reader.peek() !== ']'; first = false) {
    if (reader.peek() === '') throw reader.refuse(NOT_CLOSED)
    if (first && reader.peek() === ']') break
    if (reader.take('-[')) {
      without = parseClass(reader, cased)
      break
    }
    tests.push(parseRange(reader))
  }
  if (!reader.take(']')) throw reader.refuse(NOT_CLOSED)
  const listed = cased(anyOf(tests))
  return subtract(negated ? not(listed) : listed, without)
}

const NOT_CLOSED = 'a character class is not closed'

/** Parses an escape, after its backslash, to a character or a class. */
export function parseEscape(reader: PatternReader): ClassAtom {
  const letter = reader.next()
  if (letter === '') throw reader.refuse('it ends with a backslash')
  if (letter === 'p' || letter === 'P') return parseProperty(reader, letter)
  if (letter === 'x' || letter === 'u') return parseHex(reader, letter)
  const control = CONTROLS.get(letter)
  if (control !== undefined) return control
  const test = escapedClass(letter)
  if (test !== undefined) return test
  if (/^[A-Za-z0-9]$/.test(letter)) throw reader.refuse(`the escape \\${letter} is not supported`)
  return codeOf(letter)
}

/** The code point of a character. */
export function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['f', 0x0c],
  ['v', 0x0b],
  ['0', 0x00],
])

function subtract(test: CharTest, without: CharTest | undefined): CharTest {
  return without === undefined ? test : (codePoint) => test(codePoint) && !without(codePoint)
}

function parseRange(reader: PatternReader): CharTest {
  if (reader.peek() === '[' && reader.peek(1) === ':') throw reader.refuse('POSIX classes are not supported')
  const from = parseAtom(reader)
  if (typeof from !== 'number') return from
  if (reader.peek() !== '-' || reader.peek(1) === ']' || reader.peek(1) === '[') return range(from, from)
  reader.next()
  if (reader.peek() === '') throw reader.refuse(NOT_CLOSED)
  const to = parseAtom(reader)
  if (typeof to !== 'number') throw reader.refuse('a range ends with a class')
  if (to < from) throw reader.refuse('a range ends before it begins')
  return range(from, to)
}

function parseAtom(reader: PatternReader): ClassAtom {
  if (reader.take('\\b')) return 0x08
  return reader.take('\\') ? parseEscape(reader) : codeOf(reader.next())
}

function parseProperty(reader: PatternReader, letter: 'p' | 'P'): CharTest {
  const name = reader.take('{') ? reader.until('}') : reader.next()
  const test = unicodeClass(name ?? '')
  if (test === undefined) throw reader.refuse(`the Unicode property '${name ?? ''}' is not supported`)
  return letter === 'P' ? not(test) : test
}

function parseHex(reader: PatternReader, letter: 'x' | 'u'): number {
  const braced = reader.take('{')
  const digits = braced ? (reader.until('}') ?? '') : Array.from({ length: letter === 'x' ? 2 : 4 }, () => reader.next()).join('')
  const code = /^[0-9A-Fa-f]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
  if (!(code <= 0x10ffff)) throw reader.refuse(`the escape \\${letter} has no valid code point`)
  return code
}

/** Returns whether a code point belongs to a class of characters. */
export type CharTest = (codePoint: number) => boolean

/** A zero-width condition on a position in the text. */
export type Assertion = 'start' | 'end' | 'boundary' | 'not-boundary'

/** A parsed pattern. */
export type RegexNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly test: CharTest }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: RegexNode }
  | { readonly kind: 'repeat'; readonly body: RegexNode; readonly min: number; readonly max: number; readonly lazy: boolean }

/** A pattern with its capture groups: `groups` is their number, `names` has the indexes of named groups. */
export interface ParsedRegex {
  readonly root: RegexNode
  readonly groups: number
  readonly names: ReadonlyMap<string, number>
}

/** A cursor over the code points of a pattern. */
export interface PatternReader {
  /** The character at an offset from the cursor; '' beyond the end. */
  peek(offset?: number): string
  next(): string
  /** Consumes `text` if it comes next, and returns whether it did. */
  take(text: string): boolean
  /** Consumes and returns the text up to `end`, and consumes `end`; `undefined`, without moving, if there is no `end`. */
  until(end: string): string | undefined
  /** Consumes a run of decimal digits; '' if there is none. */
  digits(): string
  /** The current position, for `reset`. */
  mark(): number
  reset(mark: number): void
  /** Creates the error for a pattern that cannot be used. */
  refuse(reason: string): OperationError
}

/** Creates a reader at the beginning of a pattern. */
export function patternReader(pattern: string): PatternReader {
  const points: readonly string[] = Array.from(pattern)
  let at = 0
  const peek = (offset = 0): string => points[at + offset] ?? ''
  const next = (): string => points[at++] ?? ''
  return {
    peek,
    next,
    take(text) {
      for (let i = 0; i < text.length; i++) if (peek(i) !== text[i]) return false
      at += text.length
      return true
    },
    until(end) {
      const stop = points.indexOf(end, at)
      if (stop < 0) return undefined
      const text = points.slice(at, stop).join('')
      at = stop + 1
      return text
    },
    digits() {
      let text = ''
      while (peek() >= '0' && peek() <= '9') text += next()
      return text
    },
    mark: () => at,
    reset(mark) {
      at = mark
    },
    refuse: (reason) => new OperationError('regex-unsupported', `The regular expression ${quoted(pattern)} cannot be used: ${reason}.`),
  }
}
