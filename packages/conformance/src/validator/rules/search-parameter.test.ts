import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

describe('a search parameter', () => {
  const parameter = (members: JsonObject): JsonObject => ({
    resourceType: 'SearchParameter',
    url: 'http://a.org/sp',
    name: 'Sp',
    status: 'active',
    description: 'x',
    code: 'sp',
    base: ['Patient'],
    type: 'string',
    ...members,
  })
  const origin = parameter({ url: 'http://a.org/origin', base: ['Patient', 'Person'] })
  test.each<[string, JsonObject, readonly string[]]>([
    ['starts from its base', parameter({ expression: 'Patient.name | (Patient.contact.name as HumanName)' }), []],
    ['may start from what its base is', parameter({ expression: 'Resource.id' }), []],
    [
      'starts from no other type',
      parameter({ expression: 'Patient.name | Person.name' }),
      ['error search-parameter-expression SearchParameter.expression'],
    ],
    [
      'follows elements that there are',
      parameter({ expression: 'Patient.name.given | Patient.deceased.exists() | Patient.name.where(use = 1).text' }),
      [],
    ],
    [
      'follows no other elements',
      parameter({ expression: 'Patient.name.nothing.exists()' }),
      ['error search-parameter-expression SearchParameter.expression'],
    ],
    ['can be read', parameter({ expression: 'Patient.name.where(' }), ['error search-parameter-expression SearchParameter.expression']],
    [
      'uses variables that there are',
      parameter({
        expression: "Patient.name.where(use = %context.gender or family = %ucum or given = %`vs-x`).defineVariable('n').select(%n)",
      }),
      [],
    ],
    [
      'uses no other variables',
      parameter({ expression: 'Patient.name.where(family = %other)' }),
      ['error search-parameter-expression SearchParameter.expression'],
    ],
    ['that is composite has components', parameter({ type: 'composite' }), ['error search-parameter SearchParameter']],
    [
      'has the type of what it derives from',
      parameter({ type: 'token', derivedFrom: origin['url'] }),
      ['error search-parameter SearchParameter'],
    ],
    [
      'has bases of what it derives from',
      parameter({ base: ['Patient', 'Group'], derivedFrom: origin['url'] }),
      ['error search-parameter SearchParameter'],
    ],
    [
      'asks for extensions that are known',
      parameter({ expression: "Patient.extension('http://hl7.org/fhir/StructureDefinition/patient-birthPlace').value" }),
      [],
    ],
    [
      'asks for no other extensions: FHIRPATH_UNKNOWN_EXTENSION',
      parameter({ expression: "Patient.extension('http://a.org/nothing').value" }),
      ['warning search-parameter-expression SearchParameter.expression'],
    ],
    ['fits what it derives from', parameter({ derivedFrom: origin['url'] }), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [origin], /^search-parameter/)).toEqual(expected)
  })

  test('has its own type in a capability statement', async () => {
    const searchParam = [
      { name: 'a', definition: origin['url'], type: 'string' },
      { name: 'b', definition: origin['url'], type: 'token' },
    ]
    const statement = {
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: '2020',
      kind: 'requirements',
      fhirVersion: '4.0.1',
      format: ['json'],
      rest: [{ mode: 'server', resource: [{ type: 'Patient', searchParam }] }],
    }
    expect(await findingsOf(statement, [origin], /^capability/)).toEqual([
      'error capability-search CapabilityStatement.rest[0].resource[0].searchParam[1]',
    ])
  })
})
