import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { OperationError } from '../errors/index.js'
import { comparableMs, processorTimeOf } from '../../../../test/processor-time.js'
import { compileRegex, replaceAll } from './index.js'

describe('test searches anywhere, matchesWhole takes the whole text', () => {
  test.each<[pattern: string, text: string, found: boolean, whole: boolean]>([
    ['a', 'bab', true, false],
    ['[A-Z]([A-Za-z0-9_]){0,254}', 'Name_1', true, true],
    ['[A-Z]([A-Za-z0-9_]){0,254}', 'name', false, false],
    ['^[a-z\\/\\-_\\[\\]\\@]+$', 'a/b-[x]', true, true],
    ['^a|b$', 'xb', true, false],
    ['(?:ab)+?c', 'ababc', true, true],
    ['a{2,3}', 'a', false, false],
    ['a{2,3}', 'aaaa', true, false],
    ['a{,3}', 'a{,3}', true, true],
    ['\\bcat\\b', 'a cat sat', true, false],
    ['\\bcat\\b', 'concat', false, false],
    ['\\Bcat', 'concat', true, false],
    ['\\p{Lu}\\p{L}+', 'Émile', true, true],
    ['\\P{L}', 'é', false, false],
    ['[^\\s\\d]', '1 2', false, false],
    ['[a-z-[aeiou]]+', 'xyz', true, true],
    ['[a-z-[aeiou]]', 'aei', false, false],
    ['.', '😀', true, true],
    ['.', '\n', false, false],
    ['\\u0041\\x42', 'AB', true, true],
    ['', '', true, true],
    ['', 'a', true, false],
    ['$^', '', true, true],
    ['x|', 'y', true, false],
  ])('%j on %j', (pattern, text, found, whole) => {
    const regex = compileRegex(pattern)
    expect([regex.test(text), regex.matchesWhole(text)]).toEqual([found, whole])
  })

  test.each<[pattern: string, text: string, whole: boolean]>([
    ['(?i)abc', 'ABC', true],
    ['(?i)ÉTÉ', 'été', true],
    ['(?i)[a-c]+', 'aBC', true],
    ['(?i)[^a]', 'A', false],
    ['(?i)[a-z-[aeiou]]', 'E', false],
    ['(?i)\\x41', 'a', true],
    ['(?i)\\p{Lu}', 'a', true],
    ['(?i)ß', 'ß', true],
    ['(?i:a)b', 'Ab', true],
    ['(?i:a)b', 'AB', false],
    ['(?:(?i)a)b', 'AB', false],
    ['a(?i)b|c', 'C', true],
    ['(?i)a(?-i)b', 'AB', false],
    ['(?i)a(?-i)b', 'Ab', true],
    ['(?s)a.b', 'a\nb', true],
    ['(?si)a.b', 'A\nB', true],
    ['(?s-i:a.)b', 'a\nb', true],
    ['((?i)a)b', 'Ab', true],
  ])('flags of %j hold to the end of their group: %j', (pattern, text, whole) => {
    expect(compileRegex(pattern).matchesWhole(text)).toBe(whole)
  })

  test('dotAll lets the dot match line ends', () => {
    expect(compileRegex('a.b', { dotAll: true }).test('a\nb')).toBe(true)
  })
})

describe('what cannot be used is refused by name', () => {
  test.each([
    ['(a)\\1', 'backreferences'],
    ['(?<n>a)\\k<n>', 'backreferences'],
    ['a(?=b)', 'lookahead'],
    ['(?<!a)b', 'lookbehind'],
    ['(?m)^a', '(?m'],
    ['(?x)a b', '(?x'],
    ['(?im)a', '(?i'],
    ['(?i', '(?i'],
    ['a++', 'possessive'],
    ['[[:alpha:]]', 'POSIX'],
    ['\\p{Klingon}', 'Klingon'],
    ['\\p{constructor}', 'constructor'],
    ['\\q', '\\\\q'],
    ['(a', 'not closed'],
    ['a)', 'no opening'],
    ['[a', 'not closed'],
    ['[a-', 'not closed'],
    ['[b-a]', 'range'],
    ['*a', 'nothing to repeat'],
    ['a\\', 'backslash'],
    ['a{3,2}', 'wrong order'],
    ['a{1001}', '1000'],
    ['((a{100}){100}){100}', 'states'],
    ['a'.repeat(1001), '1000'],
    ['('.repeat(65), 'nested'],
  ])('%j', (pattern, reason) => {
    const error = caught(() => compileRegex(pattern))
    expect(error.code).toBe('regex-unsupported')
    expect(error.message).toContain(reason.replace('\\\\', '\\'))
  })
})

describe('time is linear', () => {
  test.each(['(a+)+$', '((a+)+)+b', '(a|a)*b', '(.*)*x', '([a-zA-Z]+)*1', '(a|aa)+$'])('%s over 100,000 characters', (pattern) => {
    const text = `${'a'.repeat(100_000)}!`
    const regex = compileRegex(pattern)
    const ms = processorTimeOf(() => expect([regex.test(text), regex.matchesWhole(text)]).toEqual([false, false]))
    expect(comparableMs(ms, 500)).toBeLessThan(500)
  })

  test.each(['a(.*b)?', '(.|a){0,200}x'])('a replacement of %s in 100,000 characters is refused soon', (pattern) => {
    const replace = (): unknown => replaceAll(compileRegex(pattern), 'a'.repeat(100_000), '')
    const ms = processorTimeOf(() => expect(caught(replace).code).toBe('too-costly'))
    expect(comparableMs(ms, 2_000)).toBeLessThan(2_000)
  })
})

describe('replaceAll', () => {
  test.each([
    ['\\b(?<month>\\d{1,2})/(?<day>\\d{1,2})/(?<year>\\d{2,4})\\b', '11/30/1972', '${day}-${month}-${year}', '30-11-1972'],
    ['a|ab', 'abab', 'x', 'xbxb'],
    ['(a)|(b)', 'ab', '[$1$2]', '[a][b]'],
    ['', 'ab', '-', '-a-b-'],
    ['', '😀', '-', '-😀-'],
    ['a+?', 'aaa', 'b', 'bbb'],
    ['\\..*', 'a.b.c', '', 'a'],
    ['b', 'abc', '$$ $& $0 $9 ${none}', 'a$ b b $9 ${none}c'],
  ])('%j in %j by %j', (pattern, text, substitution, expected) => {
    expect(replaceAll(compileRegex(pattern), text, substitution)).toBe(expected)
  })
})

const char = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '1', '-')
const quantifier = fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{1,2}', '{2}')

/** Patterns over a choice of atoms; `loops` says what may be repeated. */
function patterns(atoms: fc.Arbitrary<string>, loops: 'anything' | 'atoms'): fc.Arbitrary<string> {
  return fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      atoms,
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => a + b),
      fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(?:${a}|${b})`),
      fc.tuple(loops === 'anything' ? tie('node') : char, quantifier).map(([a, q]) => `(${a})${q}`),
    ),
  })).node
}

const anchor = fc.constantFrom('\\b', '\\B', '^', '$')
const pattern = patterns(fc.oneof(char, anchor), 'anything')
// Engines differ in what they capture when a loop's body matches nothing, so replacements repeat single characters only.
const replaceable = patterns(fc.oneof(char, anchor), 'atoms')
const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', ' '), maxLength: 8 })

describe('agrees with the RegExp of the language', () => {
  test('on what is found', () => {
    fc.assert(
      fc.property(pattern, text, (source, value) => {
        const regex = compileRegex(source)
        expect([regex.test(value), regex.matchesWhole(value)]).toEqual([
          new RegExp(source, 'u').test(value),
          new RegExp(`^(?:${source})$`, 'u').test(value),
        ])
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })

  test('on what is replaced', () => {
    fc.assert(
      fc.property(replaceable, text, (source, value) => {
        expect(replaceAll(compileRegex(source), value, '<$&>')).toBe(value.replaceAll(new RegExp(source, 'gu'), '<$&>'))
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })

  test('any text is a pattern or is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab()[]{}|*+?\\^$.,-:<>=!1pPLxu'.split('')), maxLength: 20 }), (source) => {
        try {
          compileRegex(source).test('ab1')
        } catch (error) {
          expect(error).toBeInstanceOf(OperationError)
        }
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })
})

function caught(action: () => unknown): OperationError {
  try {
    action()
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
