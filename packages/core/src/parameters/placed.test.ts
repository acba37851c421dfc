import { describe, expect, it, test } from 'vitest'
import { OperationError } from '../errors/index.js'
import { parametersFromQuery, parametersOf, placedIn } from './index.js'

const coding = { system: 'http://example.org/cs', code: 'a' }
const parameters = parametersOf({
  resourceType: 'Parameters',
  parameter: [
    { name: 'concept', valueCoding: coding },
    { name: 'url', valueUri: 'http://example.org' },
    { name: 'concept', valueCoding: coding },
    { name: 'coding', valueCoding: coding },
    { name: 'parameters', resource: { resourceType: 'Parameters' } },
    { name: 'Measure', valueString: 'x' },
  ],
})

function placesIn(sent: typeof parameters, ...expression: readonly string[]): readonly string[] | undefined {
  const error = placedIn(sent, new OperationError('parameter-value', 'x', { expression }))
  return error instanceof OperationError ? error.expression : undefined
}

describe('the place of an error in a Parameters resource', () => {
  it.each([
    ['an input', 'url', 'Parameters.parameter[1]'],
    ['one of several', 'concept[1]', 'Parameters.parameter[2]'],
    ['a part of one of several', 'concept[1].code', 'Parameters.parameter[2].valueCoding.code'],
    ['a part of a resource', 'parameters.parameter[3]', 'Parameters.parameter[4].resource.parameter[3]'],
    ['what is within the coding', 'code', 'Parameters.parameter[3].valueCoding.code'],
    ['an input that was not sent', 'subject', 'subject'],
    ['one more than were sent', 'concept[2]', 'concept[2]'],
    ['an element of a resource', 'Measure.group[0]', 'Measure.group[0]'],
    ['a parameter', 'Parameters.parameter[0]', 'Parameters.parameter[0]'],
  ])('%s', (_, place, expected) => {
    expect(placesIn(parameters, place)).toEqual([expected])
  })

  test('of several places, those that are inputs are changed', () => {
    expect(placesIn(parameters, 'url', 'ValueSet.compose')).toEqual(['Parameters.parameter[1]', 'ValueSet.compose'])
  })
})

test('in a query, the place of an input is its name', () => {
  expect(placesIn(parametersFromQuery([['url', 'x']]), 'url', 'url.x')).toEqual(['url', 'url.x'])
})

test('the place of a body that is the resource itself is that resource', () => {
  const body = { name: 'codeSystem', value: undefined, parts: [], expression: 'CodeSystem', resource: { resourceType: 'CodeSystem' } }
  expect(placesIn([body], 'codeSystem.url')).toEqual(['CodeSystem.url'])
})

test('code, message and details of an error stay, and other errors are returned as they are', () => {
  const cause = new Error('y')
  const missing = { kind: 'ValueSet', name: 'x' }
  expect(placedIn(parameters, new OperationError('not-found', 'x', { expression: ['url'], cause, missing }))).toMatchObject({
    code: 'not-found',
    message: 'x',
    cause,
    detail: { missing },
  })
  expect(placedIn(parameters, cause)).toBe(cause)
})
