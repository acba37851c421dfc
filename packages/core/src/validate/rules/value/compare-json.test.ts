import { describe, expect, test } from 'vitest'
import { contains, differencesOf, equals } from './check-value.js'

describe('a fixed value', () => {
  test.each([
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, []],
    [{ a: 2 }, { a: 1 }, ['a']],
    [{ a: 1, b: 2 }, { a: 1 }, ['b']],
    [{ a: 1, b: [2] }, { a: 1 }, ['']],
    [{}, { a: { b: 1 } }, ['a']],
    [{ a: { c: 1 } }, { a: { b: 1 } }, ['a.b', 'a.c']],
    [{ a: [1, 3] }, { a: [1, 2] }, ['a[1]']],
    [{ a: [1] }, { a: [1, 2] }, ['']],
    ['x', 'y', ['']],
  ])('%j against %j differs at %j', (actual, expected, places) => {
    expect(differencesOf(actual, expected, { at: '', isPattern: false }).map(({ at }) => at)).toEqual(places)
    expect(equals(actual, expected)).toBe(places.length === 0)
  })
})

describe('a pattern', () => {
  test.each([
    [{ a: 1, b: 2 }, { a: 1 }, []],
    [{ a: [{ x: 1, y: 1 }, { x: 2 }] }, { a: [{ x: 2 }] }, []],
    [{ a: [{ x: 1 }] }, { a: [{ x: 2 }] }, ['']],
    [{ a: { b: 2 } }, { a: { b: 1 } }, ['a.b']],
    [{}, { a: 1 }, ['a']],
  ])('%j against %j differs at %j', (actual, pattern, places) => {
    expect(differencesOf(actual, pattern, { at: '', isPattern: true }).map(({ at }) => at)).toEqual(places)
    expect(contains(actual, pattern)).toBe(places.length === 0)
  })
})
