import { describe, expect, test } from 'vitest'
import { didYouMean, nearest, otherCase } from './index.js'

const NAMES = ['birthDate', 'gender', 'name', 'deceasedBoolean', 'deceasedDateTime', 'id']

describe('nearest', () => {
  test.each([
    ['birthdate', ['birthDate']],
    ['bithDate', ['birthDate']],
    ['brithDate', ['birthDate']],
    ['gendre', ['gender']],
    ['names', ['name']],
    ['deceasedBolean', ['deceasedBoolean']],
    ['ID', ['id']],
    ['foo', []],
    ['x', []],
    ['', []],
    ['constructor', []],
    ['x'.repeat(100_000), []],
  ])('%s means %j', (word, expected) => {
    expect(nearest(word, NAMES)).toEqual(expected)
  })

  test('what differs only in case comes first, and no more than three are named', () => {
    expect(nearest('male', ['mald', 'malf', 'MALE', 'malg', 'malh'])).toEqual(['MALE', 'mald', 'malf'])
  })

  test('a word is not its own suggestion', () => {
    expect(nearest('name', ['name', 'names'])).toEqual(['names'])
  })

  test('only so many candidates are looked at', () => {
    const endless = (function* () {
      for (;;) yield 'something else'
    })()
    expect(nearest('word', endless)).toEqual([])
  })
})

test('a suggestion is a question', () => {
  expect([didYouMean([]), didYouMean(['a']), didYouMean(['a', 'b'])]).toEqual([undefined, "Did you mean 'a'?", "Did you mean 'a' or 'b'?"])
})

test.each([
  ['Male', ['male', 'mail'], 'male'],
  ['Aa', ['AA', 'aa'], undefined],
  ['m', ['male'], undefined],
])('%s among %j is %s in another case', (word, suggestions, expected) => {
  expect(otherCase(word, suggestions)).toBe(expected)
})
