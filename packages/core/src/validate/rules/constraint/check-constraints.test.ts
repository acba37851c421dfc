import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../json/index.js'
import { dependenceOf, isAsked, testsAsked } from './check-constraints.js'

type JsonTest = (value: JsonObject) => boolean | undefined

const isAbsent: JsonTest = (value) => value['a'] === undefined && value['_a'] === undefined
/** Looks at a second member only where the first is there. */
const isPaired: JsonTest = (value) => !Object.hasOwn(value, 'a') || value['b'] !== undefined
/** Looks without reading. */
const isMissing: JsonTest = (value) => !('a' in value)
const isPresent: JsonTest = (value) => value['a'] !== undefined
const isUnknown: JsonTest = (value) => (value['a'] === undefined ? undefined : true)
const isEmpty: JsonTest = (value) => Object.keys(value).length === 0

describe('the tests that a value is asked about', () => {
  test.each<[string, JsonTest, JsonObject, boolean]>([
    ['one that is met by nothing, where its member is absent', isAbsent, { b: 1 }, false],
    ['one that is met by nothing, where its member is there', isAbsent, { b: 1, a: 1 }, true],
    ['one that is met by nothing, where what is next to its member is there', isAbsent, { _a: {} }, true],
    ['one that is met by nothing, where its member is undefined', isAbsent, { a: undefined }, true],
    ['one that is met by nothing, where its member is there, though it is not read', isMissing, { a: 1 }, true],
    ['one about two members, where only the second is there', isPaired, { b: 1 }, false],
    ['one about two members, where the first is there', isPaired, { a: 1 }, true],
    ['one that nothing fails', isPresent, { b: 1 }, true],
    ['one that cannot be decided of nothing', isUnknown, { b: 1 }, true],
    ['one about all members', isEmpty, { b: 1 }, true],
  ])('%s', (_, one, value, asked) => {
    expect(isAsked(testsAsked(value, dependenceOf([one])), 0)).toBe(asked)
  })

  test('are told apart as far as there are bits, and all further ones are asked', () => {
    const tests = Array.from(
      { length: 40 },
      (_, index): JsonTest =>
        (value) =>
          value[`m${index}`] === undefined,
    )
    const asked = testsAsked({ m3: 1, m30: 1, m31: 1 }, dependenceOf(tests))
    const indexes = tests.flatMap((_, index) => (isAsked(asked, index) ? [index] : []))
    expect(indexes).toEqual([3, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39])
  })

  test('are all where nothing was found out', () => {
    expect(isAsked(undefined, 0)).toBe(true)
  })
})
