import { describe, expect, test } from 'vitest'
import { didYouMean, nearest } from './index.js'

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

test('a suggestion is a question behind the sentence', () => {
  expect([didYouMean([]), didYouMean(['a']), didYouMean(['a', 'b'])]).toEqual(['', " Did you mean 'a'?", " Did you mean 'a' or 'b'?"])
})
