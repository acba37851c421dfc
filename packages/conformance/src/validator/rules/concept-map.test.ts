import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const HL7 = 'http://hl7.org/fhir/'

describe('a concept map', () => {
  test('should map codes that exist', async () => {
    const group = {
      source: `${HL7}administrative-gender`,
      target: 'http://b.org',
      element: [{ code: 'male', target: [{ code: 'x', equivalence: 'equal' }] }, { code: 'horse' }],
    }
    const map = { resourceType: 'ConceptMap', status: 'active', group: [group] }
    expect(await findingsOf(map, [], /^concept-map/)).toEqual([
      'warning concept-map-system ConceptMap.group[0].target',
      'error concept-map-code ConceptMap.group[0].element[1].code',
    ])
  })

  const gender = `${HL7}administrative-gender`
  const mapping = (element: JsonObject, members: JsonObject = {}): JsonObject => ({
    resourceType: 'ConceptMap',
    status: 'active',
    group: [{ source: gender, target: gender, element: [element] }],
    ...members,
  })
  const few = {
    resourceType: 'ValueSet',
    url: 'http://a.org/few',
    status: 'active',
    compose: { include: [{ system: gender, concept: [{ code: 'male' }] }] },
  }
  test.each<[string, JsonObject, readonly string[]]>([
    ['uses displays that there are', mapping({ code: 'male', display: 'Male' }), []],
    [
      'uses no other displays',
      mapping({ code: 'male', display: 'Horse' }),
      ['warning concept-map-code ConceptMap.group[0].element[0].code'],
    ],
    ['is from its value set', mapping({ code: 'male' }, { sourceCanonical: few.url }), []],
    [
      'is from nothing else',
      mapping({ code: 'female' }, { sourceCanonical: few.url }),
      ['error concept-map-code ConceptMap.group[0].element[0].code'],
    ],
    ['tells code systems', mapping({}, { group: [{ source: gender, element: [] }] }), ['warning concept-map-code ConceptMap.group[0]']],
  ])('%s', async (_, map, expected) => {
    expect(await findingsOf(map, [few], /^concept-map/)).toEqual(expected)
  })
})
