import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ANY_CHARACTER } from '../../../../test/effort.js'
import { OperationError } from '../errors/index.js'
import { finished } from '../work/index.js'
import type { JsonObject } from './narrow.js'
import { measureJson } from './scan.js'
import { readStrictJson } from './strict.js'

const LIMITS = { maxDepth: 4, maxMembers: 5, maxString: 10 }
const parse = (text: string, limits = LIMITS): JsonObject => finished(readStrictJson(text, limits))
const codeOf = (text: string, limits = LIMITS): string => {
  try {
    parse(text, limits)
    return 'accepted'
  } catch (error) {
    return error instanceof OperationError ? error.code : String(error)
  }
}

describe('JSON from elsewhere', () => {
  it.each([
    ['{}', 'accepted'],
    ['[]', 'body-structure'],
    ['null', 'body-structure'],
    ['"x"', 'body-structure'],
    ['', 'body-invalid'],
    ['{', 'body-invalid'],
    ['{"a":1,}', 'body-invalid'],
    ["{'a':1}", 'body-invalid'],
    ['{"a":NaN}', 'body-invalid'],
    ['{"a":01}', 'body-invalid'],
    ['{} {}', 'body-invalid'],
    ['{"a":1}//x', 'body-invalid'],
    ['{"a":{"b":{"c":{}}}}', 'accepted'],
    ['{"a":{"b":{"c":{"d":{}}}}}', 'body-invalid'],
    ['{"a":[[[]]]}', 'accepted'],
    ['{"a":[[[[]]]]}', 'body-invalid'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', 'accepted'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":{"f":5}}', 'parameter-too-long'],
    ['{"a":[1,2,3,4,5]}', 'accepted'],
    ['{"a":[1,2,3,4,5,6]}', 'parameter-too-long'],
    ['{"a":[{},{},{},{},{},{}]}', 'parameter-too-long'],
    ['{"a":[[1,2],[3,4],[5,6]]}', 'parameter-too-long'],
    ['{"a":[[],[],[],[],[]]}', 'parameter-too-long'],
    ['{"a":[{"b":1},{"b":2},{"b":3},{"b":[1]}]}', 'accepted'],
    ['{"a":[1,2,3],"b":[4,5]}', 'accepted'],
    ['{"a":[1,2,3],"b":4,"c":[5,6]}', 'parameter-too-long'],
    ['{"a":[[[]],[[]],1,2,3]}', 'accepted'],
    ['{"a":[[{"b":1},{"b":2}],[{"b":3}],[{"b":4}],[5]]}', 'accepted'],
    ['{"a":",,,,,,[[["}', 'accepted'],
    ['{"a":1,"a":1}', 'body-invalid'],
    ['{"a":1,"\\u0061":1}', 'body-invalid'],
    ['{"a":{"b":1,"b":2}}', 'body-invalid'],
    ['{"a":":"}', 'accepted'],
    ['{"a":"\\":{[\\\\"}', 'accepted'],
    ['{"__proto__":1}', 'body-structure'],
    ['{"\\u005f_proto__":1}', 'body-structure'],
    ['{"a":{"constructor":1}}', 'body-structure'],
    ['{"a":[{"prototype":1}]}', 'body-structure'],
    ['{"toString":1,"hasOwnProperty":2}', 'accepted'],
    ['{"a":"\\ud800"}', 'body-structure'],
    ['{"a":"\\udc00\\ud800"}', 'body-structure'],
    ['{"a":"\\ud83d\\ude00"}', 'accepted'],
    ['{"\\ud800":1}', 'body-structure'],
    ['{"a":"x\\u0000"}', 'body-structure'],
    ['{"\\u0000":1}', 'body-structure'],
    ['{"a":1e999}', 'body-structure'],
    ['{"a":-1e999}', 'body-structure'],
    [`{"a":"${'x'.repeat(10)}"}`, 'accepted'],
    [`{"a":"${'x'.repeat(11)}"}`, 'parameter-too-long'],
    [`{"data":"${'x'.repeat(100)}"}`, 'accepted'],
  ])('%s: %s', (text, outcome) => {
    expect(codeOf(text)).toBe(outcome)
  })

  it('is refused by its depth before it is parsed', () => {
    // JSON.parse takes its time for these, and what walks their value overflows the stack.
    expect(codeOf('['.repeat(4_000_000))).toBe('body-invalid')
    expect(codeOf('{"a":'.repeat(1_000_000))).toBe('body-invalid')
  })

  it('does not show what V8 says about it', () => {
    expect(() => parse('{"secret words')).toThrow(/^The body is not well-formed JSON.$/)
    expect(() => parse('<secret words')).toThrow(/^The body is not well-formed JSON: it is XML or HTML.$/)
    expect(() => parse(' \n')).toThrow(/^The body is not well-formed JSON: it is empty.$/)
  })

  const placed = (text: string): JsonObject => finished(readStrictJson(text, { ...LIMITS, places: true }))

  it.each([
    ['{"a": 1,\n "b": 2,\n}', 'line 3, column 1'],
    ['{"a": 1\n "b": 2}', 'line 2, column 2'],
    ['{"a": tru}', 'line 1, column 7'],
    ['{"a":\n', 'line 2, column 1'],
    ['{} {}', 'line 1, column 4'],
    ["{'a': 1,}", 'line 1, column 2'],
  ])('says where %j is not JSON', (text, place) => {
    expect(() => placed(text)).toThrow(`not well-formed JSON: ${place}.`)
  })

  it('says where a member comes again', () => {
    expect(() => placed('{"a": {"b": 1},\n "\\u0061": 2}')).toThrow('The body has a member twice in one object: line 2, column 2.')
  })

  it('does not look for the place in long texts', () => {
    expect(() => placed(`{"a":"${'x'.repeat(2_000_000)}",}`)).toThrow(/not well-formed JSON\.$/)
  })

  it('is called what it is in errors', () => {
    expect(() => finished(readStrictJson('{"a":"x\\u0000"}', { ...LIMITS, name: 'The resource' }))).toThrow(/^A text in the resource has/)
  })

  it('leaves no trace in the prototype of objects', () => {
    const value = parse('{"a":{"toString":{"b":1}}}')
    expect([Object.keys(value), Reflect.get({}, 'b')]).toEqual([['a'], undefined])
  })

  const huge = { maxDepth: 128, maxMembers: 1e6, maxString: 1e6 }
  it('of any value comes back as that value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const value: unknown = JSON.parse(text)
        if (/__proto__|constructor|prototype|\\u0000|\\ud[89a-f]/i.test(text)) return
        expect(parse(`{"a":${text}}`, huge)).toEqual({ a: value })
        expect(finished(measureJson(text, { numbers: false })).members).toBe(membersOf(value))
      }),
    )
  })

  it('of any text gives a value or a known error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: ANY_CHARACTER }), fc.stringMatching(/^[[\]{}":,\\u0-9a-f ]{0,40}$/)), (text) => {
        expect(['accepted', 'body-invalid', 'body-structure', 'parameter-too-long']).toContain(codeOf(text))
      }),
    )
  })
})

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, item) => sum + membersOf(item), own)
}
