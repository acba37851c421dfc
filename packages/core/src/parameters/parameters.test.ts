import { describe, expect, test } from 'vitest'
import { OperationError } from '../errors/index.js'
import { parameterReader, parametersFromQuery, parametersOf } from './index.js'

const parametersBody = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter })
const readerOf = (...parameter: object[]) => parameterReader(parametersOf(parametersBody(...parameter)))

function errorOf(work: () => unknown): OperationError {
  try {
    work()
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('parametersOf', () => {
  test.each([
    ['another type', { resourceType: 'Patient' }, 'body-structure', 'resourceType'],
    ['parameter as object', { resourceType: 'Parameters', parameter: {} }, 'body-structure', 'Parameters.parameter'],
    ['a parameter that is text', { resourceType: 'Parameters', parameter: ['x'] }, 'body-structure', 'Parameters.parameter[0]'],
    ['a parameter without name', parametersBody({ valueUri: 'x' }), 'body-structure', 'Parameters.parameter[0].name'],
    ['a text as boolean', parametersBody({ name: 'a', valueBoolean: 'true' }), 'body-structure', 'Parameters.parameter[0].valueBoolean'],
    ['a text as integer', parametersBody({ name: 'a', valueInteger: '1' }), 'body-structure', 'Parameters.parameter[0].valueInteger'],
    ['a coding that is text', parametersBody({ name: 'a', valueCoding: 'x' }), 'body-structure', 'Parameters.parameter[0].valueCoding'],
    [
      'a number as version of a coding',
      parametersBody({ name: 'a', valueCoding: { code: 'x', version: 1 } }),
      'body-structure',
      'Parameters.parameter[0].valueCoding.version',
    ],
    [
      'a text as userSelected',
      parametersBody({ name: 'a', valueCoding: { userSelected: 'true' } }),
      'body-structure',
      'Parameters.parameter[0].valueCoding.userSelected',
    ],
    [
      'codings that are not an array',
      parametersBody({ name: 'a', valueCodeableConcept: { coding: {} } }),
      'body-structure',
      'Parameters.parameter[0].valueCodeableConcept.coding',
    ],
    [
      'a list as display',
      parametersBody({ name: 'a', valueCodeableConcept: { coding: [{}, { display: [] }] } }),
      'body-structure',
      'Parameters.parameter[0].valueCodeableConcept.coding[1].display',
    ],
    [
      'null as text of a concept',
      parametersBody({ name: 'a', valueCodeableConcept: { text: null } }),
      'body-structure',
      'Parameters.parameter[0].valueCodeableConcept.text',
    ],
    ['two values', parametersBody({ name: 'a', valueUri: 'x', valueCode: 'y' }), 'parameter-invalid', 'Parameters.parameter[0]'],
    ['value and part', parametersBody({ name: 'a', valueUri: 'x', part: [] }), 'parameter-invalid', 'Parameters.parameter[0]'],
    ['a nested part', parametersBody({ name: 'a', part: [{}] }), 'body-structure', 'Parameters.parameter[0].part[0].name'],
    ['a resource without type', parametersBody({ name: 'a', resource: {} }), 'body-structure', 'Parameters.parameter[0].resource'],
  ])('%s is refused with its place', (_, body, code, place) => {
    const error = errorOf(() => parametersOf(body))
    expect([error.code, error.expression[0]]).toEqual([code, place])
  })

  test('an absent list is an empty one', () => {
    expect(parametersOf({ resourceType: 'Parameters' })).toEqual([])
  })
})

describe('parameterReader', () => {
  test('reads by any synonym, whatever text type was chosen', () => {
    expect(readerOf({ name: 'targetSystem', valueUri: 'u' }).text('targetsystem', 'targetSystem')).toBe('u')
    expect(readerOf({ name: 'url', valueCanonical: 'u' }).text('url')).toBe('u')
  })

  test.each([
    [
      'a repeated single parameter',
      [
        { name: 'a', valueUri: '1' },
        { name: 'a', valueUri: '1' },
      ],
      'parameter-invalid',
      1,
    ],
    [
      'two synonyms of one parameter',
      [
        { name: 'a', valueUri: '1' },
        { name: 'b', valueUri: '2' },
      ],
      'parameter-invalid',
      1,
    ],
    ['an object for a text', [{ name: 'a', valueCoding: {} }], 'parameter-value', 0],
    ['an empty text', [{ name: 'a', valueUri: '' }], 'parameter-value', 0],
    ['a blank text', [{ name: 'a', valueCode: ' \t' }], 'parameter-value', 0],
    ['no value at all', [{ name: 'a' }], 'parameter-value', 0],
  ])('%s is refused', (_, parameters, code, index) => {
    const error = errorOf(() => readerOf(...parameters).text('a', 'b'))
    expect([error.code, error.expression[0]]).toEqual([code, `Parameters.parameter[${index}]`])
  })

  test.each([
    ['true', true],
    ['false', false],
  ])('a query’s %s is a boolean', (text, expected) => {
    expect(parameterReader(parametersFromQuery([['a', text]])).boolean('a')).toBe(expected)
  })

  test('a complex value in a URL is refused with the way to send it', () => {
    const read = (): unknown => parameterReader(parametersFromQuery([['coding', 'http://x|a']])).object('Coding', 'coding')
    expect(errorOf(read).message).toBe("Parameter 'coding' must be a Coding, which a URL cannot carry; send it in a Parameters resource.")
  })

  test.each(['TRUE', '1', 'yes', ''])('%j is not a boolean', (text) => {
    expect(errorOf(() => parameterReader(parametersFromQuery([['a', text]])).boolean('a')).code).toBe('parameter-value')
  })

  test.each(['-1', '1.5', '1e3', '', ' 1', '2147483648', '12345678901', '0x1'])('%j is not a count', (text) => {
    expect(errorOf(() => parameterReader(parametersFromQuery([['count', text]])).count('count')).code).toBe('parameter-value')
  })

  test('counts come as numbers and as text', () => {
    expect(readerOf({ name: 'count', valueInteger: 20 }).count('count')).toBe(20)
    expect(parameterReader(parametersFromQuery([['count', '0']])).count('count')).toBe(0)
  })

  test('what nobody asked for is refused by name', () => {
    const reader = readerOf({ name: 'known', valueUri: 'x' }, { name: '__proto__', valueUri: 'x' })
    reader.text('known')
    const error = errorOf(() => reader.refuseUnknown())
    expect([error.code, error.message]).toEqual(['parameter-invalid', "Parameter '__proto__' is not known to this operation."])
  })

  test('what is understood but not supported is refused by name', () => {
    const reader = readerOf({ name: 'lastReceivedOn', valueDate: '2020' })
    expect(errorOf(() => reader.refuse('lastReceivedOn')).code).toBe('parameter-unsupported')
    expect(() => reader.refuse('other')).not.toThrow()
  })
})
