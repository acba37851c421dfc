import { modelOfDefinitions } from 'fhir-ops/fhirpath'
import { describe, expect, it } from 'vitest'
import { finished } from 'fhir-ops/internal/work'
import { pathSubset } from './subset.js'

const element = (path: string, type: string): object => ({
  path,
  min: 0,
  max: '*',
  base: { path, min: 0, max: '*' },
  type: [{ code: type }],
})
const model = modelOfDefinitions([
  {
    resourceType: 'StructureDefinition',
    type: 'Patient',
    kind: 'resource',
    derivation: 'specialization',
    url: 'http://hl7.org/fhir/StructureDefinition/Patient',
    snapshot: {
      element: [
        { path: 'Patient' },
        element('Patient.contact', 'BackboneElement'),
        element('Patient.contact.gender', 'code'),
        element('Patient.contact.period', 'Period'),
      ],
    },
  },
])

describe('pathSubset', () => {
  it('keeps parts of parts, and values of data types whole', () => {
    const subset = pathSubset(model, 'Patient', new Set(['Patient.contact', 'Patient.contact.gender']))
    const text =
      '{"resourceType":"Patient","id":"a","meta":{"versionId":"1"},"x":1,"contact":[{"gender":"male","_gender":{"id":"g"},"period":{"start":"2020"}},{}]}'
    expect(JSON.parse(finished(subset(text)))).toEqual({
      resourceType: 'Patient',
      id: 'a',
      meta: { versionId: '1', tag: [expect.objectContaining({ code: 'SUBSETTED' })] },
      contact: [{ gender: 'male', _gender: { id: 'g' } }, {}],
    })
  })
})
