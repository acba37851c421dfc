import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { finished } from '../work/index.js'
import { jsonItems, jsonMembers } from './members.js'

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
    expect(finished(jsonMembers(text)).map(({ name, value }) => [name, value])).toEqual(expected)
  })
})

describe('jsonItems', () => {
  test.each([
    ['[]', []],
    ['[ ]', []],
    ['[1.0, [2,3], {"a":[4]}, "],"]', ['1.0', '[2,3]', '{"a":[4]}', '"],"']],
  ])('%s', (text, expected) => {
    expect(finished(jsonItems(text))).toEqual(expected)
  })
})

test('members and items are those of the value, however it is laid out', () => {
  const layouts = fc.constantFrom(undefined, 1, '\t')
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), layouts, (value, indent) => {
      const text = `\n${JSON.stringify([value, { value }], null, indent)} `
      expect(finished(jsonItems(text))).toEqual([JSON.stringify(value), JSON.stringify({ value })])
      const object = JSON.stringify({ a: value, b: 1 }, null, indent)
      expect(finished(jsonMembers(object))).toEqual([
        { name: 'a', value: JSON.stringify(value) },
        { name: 'b', value: '1' },
      ])
    }),
  )
})

test('a long value is passed in pieces, between which other work may run', () => {
  const long = JSON.stringify({ a: Array.from({ length: 300_000 }, (_, n) => `item ${n}`) }, null, 1)
  const work = jsonMembers(long)
  let pieces = 0
  for (let step = work.next(); step.done !== true; step = work.next()) pieces++
  expect(pieces).toBeGreaterThan(long.length / 300_000)
})
