import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const HL7 = 'http://hl7.org/fhir/'

describe('an operation with a profile for its input', () => {
  const PROFILE = 'http://a.org/parameters'
  const slice = (name: string, elements: readonly JsonObject[] = [], number: JsonObject = { min: 0, max: '1' }): readonly JsonObject[] => [
    { id: `Parameters.parameter:${name}`, path: 'Parameters.parameter', sliceName: name, ...number },
    { id: `Parameters.parameter:${name}.name`, path: 'Parameters.parameter.name', fixedString: name },
    ...elements.map((element) => ({ id: `Parameters.parameter:${name}.x`, ...element })),
  ]
  const value = (code: string, ...targetProfile: readonly string[]): JsonObject => ({
    path: 'Parameters.parameter.value[x]',
    type: [{ code, targetProfile }],
  })
  const resource = (code: string): JsonObject => ({ path: 'Parameters.parameter.resource', type: [{ code }] })
  const profile = (element: readonly JsonObject[]): JsonObject =>
    profileOn('Parameters', PROFILE, [
      { path: 'Parameters.parameter', slicing: { discriminator: [{ type: 'value', path: 'name' }], rules: 'open' } },
      ...element,
    ])
  const operation = (...parameter: readonly JsonObject[]): JsonObject => ({
    resourceType: 'OperationDefinition',
    name: 'Ask',
    status: 'active',
    kind: 'operation',
    code: 'ask',
    system: true,
    type: false,
    instance: false,
    inputProfile: PROFILE,
    parameter: parameter.map((one) => ({ name: 'a', use: 'in', min: 0, max: '1', ...one })),
  })
  /** Every type of a value. */
  const OPEN: readonly JsonObject[] = (r4().types.type('Parameters.parameter')?.elements.get('value') ?? []).map(({ type }) => ({
    code: type,
  }))
  const AT = 'error operation-parameter OperationDefinition.parameter[0]'
  const PATIENT = `${HL7}StructureDefinition/Patient`
  test.each<[string, JsonObject, readonly JsonObject[], readonly string[]]>([
    ['has its parameters', operation({ type: 'string' }), slice('a', [value('string')]), []],
    ['has all its parameters', operation(), slice('a'), ['warning operation-parameter OperationDefinition.inputProfile']],
    ['has no others', operation({ type: 'string' }), [], ['warning operation-parameter OperationDefinition.parameter[0]']],
    ['has them as often', operation({ type: 'string', max: '*' }), slice('a', [value('string')]), [AT]],
    ['has them of the same type', operation({ type: 'code' }), slice('a', [value('string')]), [AT]],
    ['has all of their types', operation({ type: 'Patient' }), slice('a', [value('string'), resource('Patient')]), [AT]],
    ['has parts and no value', operation({ part: [{ name: 'b', use: 'in', min: 0, max: '1', type: 'string' }] }), slice('a'), []],
    [
      'may have parts where a value could be of any type',
      operation({ part: [{ name: 'b', use: 'in', min: 0, max: '1', type: 'string' }] }),
      slice('a', [
        { path: 'Parameters.parameter.value[x]', type: OPEN },
        { path: 'Parameters.parameter.resource', max: '0' },
      ]),
      [],
    ],
    [
      'has no value where it has parts',
      operation({ part: [{ name: 'b', use: 'in', min: 0, max: '1', type: 'string' }] }),
      slice('a', [value('string')]),
      [AT],
    ],
    ['may leave the type open', operation({ type: 'Element' }), slice('a', [value('string')]), []],
    ['has the same targets', operation({ type: 'Reference', targetProfile: [PATIENT] }), slice('a', [value('Reference', PATIENT)]), []],
    ['has no other targets', operation({ type: 'Reference' }), slice('a', [value('Reference', PATIENT)]), [AT]],
    [
      'need not have what it gives',
      operation({ type: 'string' }, { use: 'out', name: 'b', type: 'string' }),
      slice('a', [value('string')]),
      [],
    ],
  ])('%s', async (_, definition, elements, expected) => {
    expect(await findingsOf(definition, [profile(elements)], /^operation-/)).toEqual(expected)
  })

  test('a parameter that is a resource can have a profile', async () => {
    const parameter = { type: 'Patient', targetProfile: [PATIENT] }
    expect(await findingsOf(operation(parameter), [], /^invariant/)).toEqual([])
    expect(await findingsOf(operation({ ...parameter, type: 'string' }), [], /^invariant/)).toEqual([
      'error invariant OperationDefinition.parameter[0]',
    ])
  })
})
