import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { finished } from '../work/index.js'
import { jsonItems, jsonMembers, selectMembers, stringValue, valuesByName, type MemberChooser } from './members.js'

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

test('values by name: of equal names the last, and a string only where the value is one', () => {
  const values = valuesByName(finished(jsonMembers('{"a":"x","b":[1.0],"a":"y","c":null}')))
  expect([...values]).toEqual([
    ['a', '"y"'],
    ['b', '[1.0]'],
    ['c', 'null'],
  ])
  expect(['a', 'b', 'c', 'd'].map((name) => stringValue(values, name))).toEqual(['y', undefined, undefined, undefined])
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

describe('selectMembers', () => {
  const inner: MemberChooser = (name) => (name === 'a' ? 'kept' : name === 'b' ? { reduced: inner } : 'omitted')
  const choose: MemberChooser = (name) =>
    name === 'x"'
      ? {
          *replaced(value) {
            yield
            return `[${value}]`
          },
        }
      : inner(name)

  test.each([
    ['{}', '{}'],
    ['{ "c" : { "a" : 1 } }', '{}'],
    ['{"c":1,"a":[1.50, {"c":2}],"c":3,"a":{}}', '{"a":[1.50,{"c":2}],"a":{}}'],
    ['{"b":{},"c":0,"b":[],"b":[ {} , {"c":1}]}', '{"b":{},"b":[],"b":[{},{}]}'],
    ['{"b":{"c":[1],"a":",}","b":[{"a":1,"c":2},{"c":{"a":1},"a":2}]}}', '{"b":{"a":",}","b":[{"a":1},{"a":2}]}}'],
    ['{"b":[[{"c":1}],null,"a",2.0,{"a":1}]}', '{"b":[[{}],null,"a",2.0,{"a":1}]}'],
    ['{"b":null,"b":"{","b":1}', '{"b":null,"b":"{","b":1}'],
    [String.raw`{"x\"":{"c":1},"\u0061":0}`, String.raw`{"x\"":[{"c":1}],"\u0061":0}`],
  ])('%s', (text, expected) => {
    expect(finished(selectMembers(text, choose))).toBe(expected)
  })

  test('gives what leaving the members out of the parsed value gives, however it is laid out', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd')
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(names, tie('tree')),
      ),
    }))
    const reduced = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reduced)
      if (typeof value !== 'object' || value === null) return value
      const members = Object.entries(value).filter(([name]) => name === 'a' || name === 'b')
      return Object.fromEntries(members.map(([name, member]) => [name, name === 'b' ? reduced(member) : member]))
    }
    fc.assert(
      fc.property(fc.dictionary(names, tree), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        expect(finished(selectMembers(JSON.stringify(value, null, indent), inner))).toBe(JSON.stringify(reduced(value)))
      }),
    )
  })

  test('lets other work run between many small members, and within a long value', () => {
    for (const value of [Array.from({ length: 50_000 }, () => ({ b: 1, c: 2 })), Array.from({ length: 300_000 }, () => 'x')]) {
      const text = JSON.stringify({ b: value, c: value })
      const work = selectMembers(text, inner)
      let pieces = 0
      for (let step = work.next(); step.done !== true; step = work.next()) pieces++
      expect(pieces).toBeGreaterThan(text.length / 500_000)
    }
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
