import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const HL7 = 'http://hl7.org/fhir/'

describe('a code system', () => {
  const system = (members: JsonObject): JsonObject => ({
    resourceType: 'CodeSystem',
    url: 'http://a.org/cs',
    status: 'active',
    content: 'complete',
    caseSensitive: true,
    concept: [{ code: 'a' }],
    ...members,
  })
  const property = (code: string, type: string, name?: string): JsonObject => ({
    code,
    type,
    ...(name !== undefined && { uri: `${HL7}concept-properties#${name}` }),
  })
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'counts its concepts, also those within others',
      system({ count: 2, hierarchyMeaning: 'is-a', concept: [{ code: 'a', concept: [{ code: 'b' }] }] }),
      [],
    ],
    [
      'tells what it means that concepts are in others',
      system({ concept: [{ code: 'a', concept: [{ code: 'b' }] }] }),
      ['information code-system-incomplete CodeSystem'],
    ],
    ['of which nothing is here has no concepts', system({ content: 'not-present' }), ['error code-system-content CodeSystem.concept[0]']],
    ['that is complete has as many as it says', system({ count: 2 }), ['error code-system-count CodeSystem.count']],
    ['that is a fragment may have fewer', system({ count: 2, content: 'fragment' }), []],
    ['that is a fragment has not more', system({ count: 0, content: 'fragment' }), ['warning code-system-count CodeSystem.count']],
    ['that is complete has concepts', system({ concept: undefined }), ['warning code-system-empty CodeSystem']],
    [
      'that supplements another is a supplement',
      system({ supplements: `${HL7}item-type`, caseSensitive: undefined, concept: [{ code: 'group' }] }),
      ['error code-system-content CodeSystem.content'],
    ],
    [
      'that is a supplement says of what',
      system({ content: 'supplement' }),
      ['error code-system-content CodeSystem.content', 'error code-system-content CodeSystem'],
    ],
    [
      'that is a supplement does not say whether case matters',
      system({ content: 'supplement', supplements: `${HL7}item-type`, concept: [{ code: 'group' }] }),
      ['error code-system-content CodeSystem.caseSensitive'],
    ],
    ['says whether case matters', system({ caseSensitive: undefined }), ['information code-system-incomplete CodeSystem']],
    [
      'of HL7 has displays and definitions',
      system({ url: `${HL7}x` }),
      ['warning code-system-incomplete CodeSystem.concept[0]', 'warning code-system-incomplete CodeSystem.concept[0]'],
    ],
    [
      'declares a property once',
      system({ property: [property('parent', 'code', 'parent'), property('parent', 'code', 'parent')] }),
      ['error code-system-property CodeSystem.property[1]', 'error code-system-property CodeSystem.property[1]'],
    ],
    [
      'declares the properties of its concepts',
      system({ concept: [{ code: 'a', property: [{ code: 'mine', valueString: 'x' }] }] }),
      ['warning code-system-property CodeSystem.concept[0].property[0]'],
    ],
    [
      'gives properties of the type that it declares',
      system({
        hierarchyMeaning: 'is-a',
        property: [property('notSelectable', 'boolean', 'notSelectable')],
        concept: [{ code: 'a', concept: [{ code: 'b', property: [{ code: 'notSelectable', valueString: 'x' }] }] }],
      }),
      ['error code-system-property CodeSystem.concept[0].concept[0].property[0]'],
    ],
    [
      'supplements codes that there are',
      system({
        content: 'supplement',
        supplements: `${HL7}item-type`,
        caseSensitive: undefined,
        concept: [{ code: 'group' }, { code: 'none' }],
      }),
      ['error code-system-supplement CodeSystem.concept[1]'],
    ],
    [
      'supplements codes that there are, also where it is not said to be a supplement',
      system({
        content: 'complete',
        supplements: `${HL7}item-type`,
        caseSensitive: undefined,
        concept: [{ code: 'group' }, { code: 'none' }],
      }),
      ['error code-system-content CodeSystem.content', 'error code-system-supplement CodeSystem.concept[1]'],
    ],
    [
      'gives its own properties a meaning',
      system({ property: [property('mine', 'string')] }),
      ['information code-system-property CodeSystem.property[0]'],
    ],
    ['knows the properties of FHIR by uri', system({ property: [property('notSelectable', 'boolean', 'notSelectable')] }), []],
    [
      'makes no properties of FHIR',
      system({ property: [property('mine', 'string', 'mine')] }),
      ['warning code-system-property CodeSystem.property[0]', 'error code-system-property CodeSystem.property[0]'],
    ],
    [
      'keeps the types of FHIR',
      system({ property: [property('notSelectable', 'string', 'notSelectable')] }),
      ['error code-system-property CodeSystem.property[0]'],
    ],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], /^code-system-(?!unknown|status)/)).toEqual(expected)
  })
})
