import { finished } from 'fhir-ops/internal/work'
import { describe, expect, it } from 'vitest'
import { decodeUtf8 } from 'fhir-ops/internal/text'
import { readStrictJson, readStrictValue } from 'fhir-ops/internal/json'
import { strictWithin } from '../src/limits.js'

describe('a JSON body', () => {
  const LIMITS = { jsonDepth: 4, jsonMembers: 5, stringLength: 10 }

  it.each([
    ['{"a":[[[]]]}', undefined],
    ['{"a":[[[[]]]]}', 'body-invalid'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5}', undefined],
    ['{"a":1,"b":2,"c":3,"d":4,"e":{"f":5}}', 'parameter-too-long'],
    [`{"a":"${'x'.repeat(10)}"}`, undefined],
    [`{"a":"${'x'.repeat(11)}"}`, 'parameter-too-long'],
  ])('has the limits of the handler: %s: %s', (text, code) => {
    const reading = (): unknown => finished(readStrictJson(text, strictWithin(LIMITS)))
    if (code === undefined) expect(reading()).toEqual(JSON.parse(text))
    else expect(reading).toThrow(expect.objectContaining({ code }))
  })
})

it('that is not JSON is refused with line and column', () => {
  const options = strictWithin({ jsonDepth: 9, jsonMembers: 99, stringLength: 99 })
  const problem = 'The body is not well-formed JSON: line 2, column 6.'
  expect(() => finished(readStrictJson('{"a": 1,\n "b" 2}', options))).toThrow(problem)
  expect(() => finished(readStrictValue('[{\n "b" 2}]', options))).toThrow(problem)
})

describe('UTF-8', () => {
  it.each([
    [[0x7b, 0x7d], '{}'],
    [[0xef, 0xbb, 0xbf, 0x7b, 0x7d], '{}'],
    [[0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x7b], '\ufeff{'],
    [[0xc3, 0xa9], 'é'],
  ])('%j is read', (bytes, text) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBe(text)
  })

  it.each([[[0xff]], [[0xc0, 0x80]], [[0xed, 0xa0, 0x80]], [[0xe2, 0x82]], [[0xf5, 0x80, 0x80, 0x80]], [[0x80]]])(
    '%j is refused',
    (bytes) => {
      expect(() => decodeUtf8(Uint8Array.from(bytes))).toThrow('The body is not UTF-8: line 1 has a byte of another encoding.')
    },
  )
})
