import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { collectGarbage } from '../../../../test/garbage.js'
import { finished } from '../work/index.js'
import { placeIn, readJsonSource, type JsonSource, type JsonSourceOptions } from './index.js'

const read = (text: string, options?: JsonSourceOptions): JsonSource => finished(readJsonSource(text, options))

const repairsOf = (text: string): readonly string[] =>
  read(text).repairs.map(({ kind, path, token }) => `${kind} ${path.join('.')} ${token}`)

/** Every number with its text, in the order of `Object.entries`. */
function withNumbers({ value, numberText }: JsonSource): readonly unknown[] {
  const textsIn = (holder: unknown): readonly unknown[] =>
    typeof holder !== 'object' || holder === null
      ? []
      : Object.entries(holder).flatMap(([key, inner]) => [
          key,
          numberText(holder, Array.isArray(holder) ? Number(key) : key),
          ...textsIn(inner),
        ])
  return textsIn(value)
}

describe('readJsonSource', () => {
  test('gives what JSON.parse gives, for every JSON text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 2), (json, indent) => {
        const text = JSON.stringify(JSON.parse(json), undefined, indent)
        const source = read(text)
        expect(source).toMatchObject({ repairs: [] })
        expect(source.fault).toBeUndefined()
        expect(JSON.stringify(source.value)).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  test('never throws and never pollutes, whatever the text', () => {
    const token = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', "'", '\\', '/', '*', '\n', '1.0', 'a', '"a"', '__proto__', 'null')
    fc.assert(
      fc.property(fc.array(token), (tokens) => {
        const { value, fault } = read(tokens.join(''))
        expect(value === undefined).toBe(fault !== undefined)
        expect(Object.getPrototypeOf({})).toBe(Object.prototype)
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })

  test('gives the same with and without positions, for which every character is looked at', () => {
    const number = fc.constantFrom('1', '-0', '0', '1.50', '2.5', '1e3', '-1E-2', '12345678901234567890', '01', '.5')
    const word = fc.constantFrom('true', 'null', '"a"', '"\\\\"', '"x: [1.0, {"', '"\\""', 'x')
    const name = fc.constantFrom('a', 'b', '1', '0', '__proto__', 'é', '')
    const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, number, word, tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
      object: fc
        .array(fc.tuple(name, tie('value')), { maxLength: 4 })
        .map((members) => `{${members.map(([key, inner]) => `${JSON.stringify(key)}: ${inner}`).join(',')}}`),
    }))
    fc.assert(
      fc.property(value, fc.constantFrom('', ' \n'), (text, space) => {
        const [quick, careful] = [read(space + text), read(space + text, { positions: true })]
        expect(withNumbers(quick)).toEqual(withNumbers(careful))
        expect({ ...quick, numberText: 0, positions: 0 }).toEqual({ ...careful, numberText: 0, positions: 0 })
      }),
      { numRuns: rounds({ quick: 300, all: 3_000 }) },
    )
  })

  test.each([
    ['in quotes', (name: string) => `"${name}"`],
    ['in single quotes', (name: string) => `'${name}'`],
    ['without quotes', (name: string) => name],
    ['with escapes', (name: string) => `"${name}\\n"`],
  ])('gives strings %s that do not keep the whole text in memory', (_, written) => {
    const usedAfterCollection = (): number => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const megabytes = 2
    const filler = 'x'.repeat(megabytes * 1024 * 1024)
    const before = usedAfterCollection()
    const kept = Array.from({ length: 20 }, (__, n) => {
      const text = `{"a": ${written(`canonical-number-${n}`)}, "b": "${n}${filler}"}`
      const { a } = read(text, { positions: true }).value as { a: string }
      return a
    })
    const after = usedAfterCollection()
    expect(kept.at(-1)).toContain('canonical-number-19')
    expect((after - before) / 1024 / 1024).toBeLessThan(megabytes * 5)
  })

  test('keeps a member called __proto__ as a member', () => {
    const { value } = read('{"__proto__":{"polluted":true}}')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect((value as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('keeps the text of numbers that JavaScript would write otherwise', () => {
    const source = read('{"a":1.50,"b":[1e3,12345678901234567890,2],"c":-0}')
    const root = source.value as { b: object }
    expect([
      source.numberText(root, 'a'),
      source.numberText(root.b, 0),
      source.numberText(root.b, 1),
      source.numberText(root, 'c'),
    ]).toEqual(['1.50', '1e3', '12345678901234567890', '-0'])
    expect(source.numberText(root.b, 2)).toBeUndefined()
  })

  test.each([
    ['// first\n{"a":1}', { a: 1 }, ['comment  //']],
    ['{"a":/* in between */1}', { a: 1 }, ['comment a /*']],
    [
      '{"a":[1, // next\n2 /* last */],\n// next\n"b":{"c":1 // last\n}, /**/} // end',
      { a: [1, 2], b: { c: 1 } },
      ['comment a.1 //', 'comment a.1 /*', 'comment b //', 'comment b.c //', 'comma-extra  }', 'comment b /*', 'comment  //'],
    ],
    ['{"a":{"b":1 "c":2}}', { a: { b: 1, c: 2 } }, ['comma-missing a "']],
    ['{"a":[1 2]}', { a: [1, 2] }, ['comma-missing a.1 2']],
    ['{"a":[1,],}', { a: [1] }, ['comma-extra a ]', 'comma-extra  }']],
    ['[1,,2]', [1, 2], ['comma-extra  ,']],
    ['{a:1}', { a: 1 }, ['name-unquoted  a']],
    ['{"a":[Sarah]}', { a: ['Sarah'] }, ['value-unquoted a.0 Sarah']],
    ["{'a':'b'}", { a: 'b' }, ["quote-single  '", "quote-single a '"]],
    ['{"a":1,"a":2}', { a: 2 }, ['duplicate-name  a']],
    ['{"a":01}', { a: 1 }, ['number-form a 01']],
    ['{"a":.5}', { a: 0.5 }, ['number-form a .5']],
    ['{"a":NaN}', { a: 'NaN' }, ['value-unquoted a NaN']],
    ['{"a":"x\ny"}', { a: 'x\ny' }, ['control-character a \n']],
    ['{"a":"\\x"}', { a: 'x' }, ['escape-invalid a \\x']],
    ['\uFEFF{"a":"\\u00e9\\n"}\r\n', { a: 'é\n' }, []],
  ])('goes on after the repairs of %j', (text, value, repairs) => {
    expect(read(text).value).toEqual(value)
    expect(repairsOf(text)).toEqual(repairs)
  })

  test.each([
    ['', 'unterminated', 0],
    ['{"a":[1}', 'unexpected', 7],
    ['{"a" 1}', 'unexpected', 5],
    ['{"a":', 'unterminated', 5],
    ['{"a":"x', 'unterminated', 5],
    ['{} {}', 'unexpected', 3],
    ['{"a":/x}', 'unexpected', 5],
  ])('says where %j cannot be repaired', (text, kind, offset) => {
    expect(read(text).fault).toMatchObject({ kind, offset })
  })

  test('skips one byte order mark, and none where the decoder has removed it', () => {
    expect(read('\uFEFF{}')).toMatchObject({ value: {}, start: 1 })
    expect(read('\uFEFF\uFEFF{}').fault).toMatchObject({ kind: 'unexpected', offset: 1, token: '\uFEFF' })
    expect(read('\uFEFF{}', { byteOrderMark: false }).fault).toMatchObject({ kind: 'unexpected', offset: 0, token: '\uFEFF' })
    expect(read('{}', { byteOrderMark: false }).value).toEqual({})
  })

  test('refuses what is nested deeper than the limit, and takes what is as deep', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(read(nested(128)).fault).toBeUndefined()
    expect(read(nested(129)).fault).toMatchObject({ kind: 'too-deep', offset: 128 })
    expect(read('['.repeat(1_000_000)).fault).toMatchObject({ kind: 'too-deep' })
  })

  test('refuses more members than the limit', () => {
    expect(read('[1,2]', { maxMembers: 3 }).fault).toBeUndefined()
    expect(read('[1,2,3]', { maxMembers: 3 }).fault).toMatchObject({ kind: 'too-many' })
  })

  test('gives up on a text that is all repairs', () => {
    const source = read(`[${'/**/'.repeat(100_000)}]`)
    expect([source.fault?.kind, source.repairs.length]).toEqual(['too-many', 1000])
  })

  test('tells on request where each value stands', () => {
    const text = '{\n  "a": [1,\n   2]\n}'
    const source = read(text, { positions: true })
    const root = source.value as { a: object }
    expect(placeIn(text, source.positions.get(root.a)?.get(1) ?? 0)).toEqual({ line: 3, column: 4 })
    expect(placeIn(text, source.positions.get(root)?.get('a') ?? 0)).toEqual({ line: 2, column: 8 })
  })
})
