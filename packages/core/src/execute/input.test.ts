import { describe, expect, test } from 'vitest'
import { isHl7Message } from '../hl7v2/index.js'
import { readBotInput, readBotQuery } from './index.js'

const read = (contentType: string | undefined, body: string) => readBotInput(contentType, body, (text) => JSON.parse(text))

describe('the content types of the input', () => {
  test.each([
    ['text/plain', '{"a":1}', '{"a":1}'],
    ['text/plain', '', ''],
    ['text/plain; charset=UTF-8', 'é😀', 'é😀'],
    ['TEXT/PLAIN;charset="utf-8"', 'x', 'x'],
    ['application/json', '{"a":[1,null]}', { a: [1, null] }],
    ['application/fhir+json', '{"resourceType":"Patient","id":"1"}', { resourceType: 'Patient', id: '1' }],
    ['application/fhir+json', '{"weightKg":61.5}', { weightKg: 61.5 }],
    ['text/json', '{"a":1}', { a: 1 }],
    ['application/vnd.example+json; charset=utf-8', '{"a":1}', { a: 1 }],
    ['application/x-www-form-urlencoded', 'a=1&b=x+y%26&c&=d&&e==', { a: '1', b: 'x y&', c: '', '': 'd', e: '=' }],
    ['application/x-www-form-urlencoded', '', {}],
  ])('%s %s', (contentType, body, expected) => {
    expect(read(contentType, body).input).toEqual(expected)
  })

  test('an HL7 message is parsed', () => {
    const { input, contentType } = read('x-application/hl7-v2+er7; charset=utf-8', 'MSH|^~\\&|A\rPID|1')
    expect(contentType).toBe('x-application/hl7-v2+er7')
    expect(isHl7Message(input) && input.get('PID-1')).toBe('1')
  })

  test('a form is a map without special keys', () => {
    const { input } = read('application/x-www-form-urlencoded', '__proto__=p&constructor=c&toString=t')
    expect(Object.getPrototypeOf(input)).toBeNull()
    expect(Object.entries(input as object)).toEqual([
      ['__proto__', 'p'],
      ['constructor', 'c'],
      ['toString', 't'],
    ])
  })
})

describe('refused', () => {
  test.each([
    ['another type', undefined, 'x', 'media-type-unsupported'],
    ['another type', '', 'x', 'media-type-unsupported'],
    ['another type', 'text/html', 'x', 'media-type-unsupported'],
    ['another type', 'application/xml', '<a/>', 'media-type-unsupported'],
    ['another type', 'constructor', 'x', 'media-type-unsupported'],
    ['another charset', 'text/plain; charset=latin1', 'x', 'media-type-unsupported'],
    ['not an object', 'application/json', '[1]', 'body-structure'],
    ['not an object', 'application/json', 'null', 'body-structure'],
    ['not an object', 'application/fhir+json', '[1]', 'body-structure'],
    ['a resourceType that is not a text', 'application/fhir+json', '{"resourceType":1}', 'body-structure'],
    ['a resourceType that names no type', 'application/fhir+json', '{"resourceType":""}', 'body-structure'],
    ['a resourceType that names no type', 'application/fhir+json', '{"resourceType":"Nonsense"}', 'body-structure'],
    ['a resourceType that names no type', 'application/fhir+json', '{"resourceType":"constructor"}', 'body-structure'],
    ['a resourceType that names no type', 'application/fhir+json', '{"resourceType":"HumanName"}', 'body-structure'],
    ['not a map of texts', 'application/x-www-form-urlencoded', 'a=1&a=2', 'body-invalid'],
    ['not a map of texts', 'application/x-www-form-urlencoded', '%61=1&a=2', 'body-invalid'],
    ['not a map of texts', 'application/x-www-form-urlencoded', 'a=%', 'body-invalid'],
    ['not a map of texts', 'application/x-www-form-urlencoded', 'a=%ff', 'body-invalid'],
    [
      'not a map of texts',
      'application/x-www-form-urlencoded',
      Array.from({ length: 1_001 }, (_, n) => `k${n}=`).join('&'),
      'body-invalid',
    ],
    ['not HL7', 'x-application/hl7-v2+er7', 'PID|1', 'body-invalid'],
  ])('%s: %s', (_, contentType, body, code) => {
    expect(() => read(contentType, body)).toThrow(expect.objectContaining({ code }))
  })
})

describe('the query', () => {
  test('is a map of text without identifier and access_token', () => {
    const read = readBotQuery(
      [
        ['identifier', 'urn:s|v'],
        ['a', '1'],
        ['__proto__', '2'],
        ['access_token', 'secret'],
      ],
      { byId: false },
    )
    expect(read.identifier).toBe('urn:s|v')
    expect(Object.getPrototypeOf(read.query)).toBeNull()
    expect(Object.entries(read.query)).toEqual([
      ['a', '1'],
      ['__proto__', '2'],
    ])
    expect(readBotQuery([], { byId: false }).identifier).toBeUndefined()
  })

  test('has the identifier as any other parameter where the bot is called by its id', () => {
    const pairs = [
      ['identifier', 'any text'],
      ['access_token', 'secret'],
    ] as const
    expect(readBotQuery(pairs, { byId: true })).toEqual({ query: expect.objectContaining({ identifier: 'any text' }) })
    expect(Object.keys(readBotQuery(pairs, { byId: true }).query)).toEqual(['identifier'])
  })

  test.each(['a', 'identifier', '__proto__'])('%s cannot be repeated', (name) => {
    expect(() =>
      readBotQuery(
        [
          [name, '1'],
          [name, '1'],
        ],
        { byId: name === 'identifier' },
      ),
    ).toThrow(expect.objectContaining({ code: 'parameter-invalid' }))
  })
})
