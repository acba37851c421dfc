import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { parseInPieces } from './parse.js'

interface Parsed {
  readonly value: unknown
  readonly pieces: number
}

function parse(text: string, piece?: number): Parsed {
  const work = parseInPieces(text, piece)
  for (let pieces = 1; ; pieces++) {
    const step = work.next()
    if (step.done === true) return { value: step.value, pieces }
  }
}

const layouts = fc.constantFrom(undefined, 1, '\t')

describe('a text that is parsed in pieces', () => {
  it('gives what JSON.parse gives, in the same order', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), layouts, fc.integer({ min: 1, max: 60 }), (value, indent, piece) => {
        const text = JSON.stringify(value, null, indent)
        const found = parse(text, piece).value
        expect(found).toEqual(JSON.parse(text))
        expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: rounds({ quick: 200, all: 1_000 }) },
    )
  })

  it.each([
    '{"__proto__":{"a":[1,2,3]},"constructor":1,"a":2,"a":3}',
    '{"a\\"b\\\\":"\\\\","c":"\\u005d]}{[,"}',
    ' [ [ ] , { } , "" , -1.5e3 , null ] ',
    '"only a text"',
  ])('is read right: %s', (text) => {
    for (const piece of [1, 5, 1_000]) expect(parse(text, piece).value).toEqual(JSON.parse(text))
  })

  it.each([
    '',
    '[',
    '[1',
    '[1,]',
    '[1,,2]',
    '[,1]',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    '{"a":1',
    '[1}',
    '{"a":1]',
    '[1] 2',
    '["a',
    '[1 2]',
    '{"a"}',
    '{1:2}',
  ])('is refused when it is not JSON: %s', (text) => {
    for (const piece of [1, 3, 1_000]) expect(() => parse(text, piece)).toThrow(SyntaxError)
  })

  it('is parsed in as many pieces as it is long', () => {
    const text = JSON.stringify({ a: 1, concept: Array.from({ length: 10_000 }, (_, i) => ({ code: `c${i}` })) })
    expect(parse(text).pieces).toBeLessThan(20)
    expect(parse(text, 1_000).pieces).toBeGreaterThan(text.length / 1_100)
  })

  it('may be nested very deep', () => {
    const text = `${'[1,'.repeat(1_000)}1${']'.repeat(1_000)}`
    expect(JSON.stringify(parse(text, 10).value)).toBe(text)
  })
})
