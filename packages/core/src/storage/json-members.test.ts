import { describe, expect, test } from 'vitest'
import { jsonItems, jsonMembers } from './json-members.js'

describe('jsonMembers', () => {
  test.each([
    ['{}', []],
    [
      '{ "a" : 1.50 , "b":[ 1, {"c":"},]"} ] }',
      [
        ['a', '1.50'],
        ['b', '[1,{"c":"},]"}]'],
      ],
    ],
    [
      String.raw`{"q\"":"\\","x":"a b"}`,
      [
        ['q"', String.raw`"\\"`],
        ['x', '"a b"'],
      ],
    ],
  ])('%s', (text, expected) => {
    expect(jsonMembers(text).map(({ name, value }) => [name, value])).toEqual(expected)
  })
})

describe('jsonItems', () => {
  test.each([
    ['[]', []],
    ['[ ]', []],
    ['[1.0, [2,3], {"a":[4]}, "],"]', ['1.0', '[2,3]', '{"a":[4]}', '"],"']],
  ])('%s', (text, expected) => {
    expect(jsonItems(text)).toEqual(expected)
  })
})
