import type { CharTest } from './ast.js'
import { anyOf, escapedClass, not, range, unicodeClass } from './char-class.js'
import type { PatternReader } from './pattern-reader.js'

/** Either one character, which may begin a range, or a class of them. */
type ClassAtom = number | CharTest

/**
 * Parses a character class after its opening bracket, with XML Schema subtraction (`[a-z-[aeiou]]`).
 *
 * @param cased What becomes of what the class lists, before it is negated.
 */
export function parseClass(reader: PatternReader, cased: (test: CharTest) => CharTest): CharTest {
  const negated = reader.take('^')
  const tests: CharTest[] = []
  let without: CharTest | undefined
  for (let first = true; first || reader.peek() !== ']'; first = false) {
    if (reader.peek() === '') throw reader.refuse('a character class is not closed')
    if (first && reader.peek() === ']') break
    if (reader.take('-[')) {
      without = parseClass(reader, cased)
      break
    }
    tests.push(parseRange(reader))
  }
  if (!reader.take(']')) throw reader.refuse('a character class is not closed')
  const listed = cased(anyOf(tests))
  return subtract(negated ? not(listed) : listed, without)
}

/** Parses an escape after its backslash: a character, or a class. */
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
