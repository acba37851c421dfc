import type { CharTest } from './ast.js'

/** True for `[A-Za-z0-9_]`, the characters between which there is no word boundary. */
export function isWordChar(codePoint: number): boolean {
  return (
    (codePoint >= 0x61 && codePoint <= 0x7a) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    codePoint === 0x5f
  )
}

/** The classes written with one letter after the backslash; the upper-case letter is the complement. */
export function escapedClass(letter: string): CharTest | undefined {
  const test = ESCAPED_CLASSES.get(letter.toLowerCase())
  if (test === undefined) return undefined
  return letter === letter.toLowerCase() ? test : not(test)
}

/** The class `\p{name}`: a Unicode general category, or one of a few scripts and binary properties. */
export function unicodeClass(name: string): CharTest | undefined {
  const value = name.replace(/^(?:General_Category|gc|Script|sc)=/, '')
  if (!CATEGORIES.has(value) && !SCRIPTS.has(value)) return undefined
  const pattern = new RegExp(SCRIPTS.has(value) ? `\\p{Script=${value}}` : `\\p{${value}}`, 'u')
  return (codePoint) => pattern.test(String.fromCodePoint(codePoint))
}

export function not(test: CharTest): CharTest {
  return (codePoint) => !test(codePoint)
}

/** The same whatever the case: of a letter in the other case, too. */
export function ignoringCase(test: CharTest): CharTest {
  return (codePoint) => test(codePoint) || test(otherCase(codePoint))
}

/** The capital of a small letter, and the other way round; the character itself where there is none, or more than one character. */
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

export function anyOf(tests: readonly CharTest[]): CharTest {
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
