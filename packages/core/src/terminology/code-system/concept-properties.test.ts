import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json/index.js'
import { statusReader } from './concept-index.js'

const INACTIVE = 'http://hl7.org/fhir/concept-properties#inactive'

function isInactive(property: readonly JsonObject[], concept: JsonObject): boolean {
  return statusReader({ resourceType: 'CodeSystem', property })({ code: 'a', property: [concept] }).inactive
}

describe('a concept is inactive', () => {
  it.each<[string, JsonObject, boolean]>([
    ['by the boolean', { code: 'inactive', valueBoolean: true }, true],
    ['not by the other boolean', { code: 'inactive', valueBoolean: false }, false],
    ['where the code system has the property as a code', { code: 'inactive', valueCode: 'true' }, true],
    ['not by another code', { code: 'inactive', valueCode: 'false' }, false],
    ['not by a code that is none of the two', { code: 'inactive', valueCode: 'yes' }, false],
    ['by its status', { code: 'status', valueCode: 'retired' }, true],
    ['not by the value of another property', { code: 'other', valueCode: 'true' }, false],
  ])('%s', (_, concept, expected) => {
    expect(isInactive([], concept)).toBe(expected)
  })

  it.each([
    ['by the standards status withdrawn', 'withdrawn', [], true],
    ['not by the standards status deprecated', 'deprecated', [], false],
    ['not by the standards status where it states another', 'withdrawn', [{ code: 'status', valueCode: 'active' }], false],
    ['not by the status withdrawn, which R4 does not define', undefined, [{ code: 'status', valueCode: 'withdrawn' }], false],
  ])('%s', (_, standards, property, expected) => {
    const url = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'
    const extension = standards === undefined ? [] : [{ url, valueCode: standards }]
    expect(statusReader({ resourceType: 'CodeSystem' })({ code: 'a', property, extension }).inactive).toBe(expected)
  })

  it('by the name that the code system has for the property', () => {
    expect(isInactive([{ code: 'gone', uri: INACTIVE, type: 'code' }], { code: 'gone', valueCode: 'true' })).toBe(true)
  })
})
