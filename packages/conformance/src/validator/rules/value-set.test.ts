import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const HL7 = 'http://hl7.org/fhir/'

describe('a value set', () => {
  const own = {
    resourceType: 'CodeSystem',
    url: 'http://a.org/cs',
    status: 'active',
    content: 'complete',
    property: [
      { code: 'size', type: 'integer' },
      { code: 'kind', type: 'Coding' },
    ],
    concept: [{ code: 'a' }],
  }
  const including = (include: JsonObject): JsonObject => ({ resourceType: 'ValueSet', status: 'active', compose: { include: [include] } })
  const filtered = (property: string, op: string, value: string): JsonObject =>
    including({ system: own.url, filter: [{ property, op, value }] })
  const filter = 'value-set-filter ValueSet.compose.include[0].filter[0]'
  test.each<[string, JsonObject, readonly string[]]>([
    ['names systems by absolute url', including({ system: 'cs' }), ['error value-set-system ValueSet.compose.include[0]']],
    [
      'lists codes of the system',
      including({ system: own.url, concept: [{ code: 'a' }, { code: 'b' }] }),
      ['error value-set-code ValueSet.compose.include[0].concept[1]'],
    ],
    [
      'lists codes that cannot be checked',
      including({ system: 'http://b.org', concept: [{ code: 'b' }] }),
      ['warning value-set-system ValueSet.compose.include[0]'],
    ],
    ['names systems without version', including({ system: `${own.url}|1` }), ['error value-set-system ValueSet.compose.include[0]']],
    [
      'takes codes from no value set',
      including({ system: `${HL7}ValueSet/administrative-gender` }),
      ['error value-set-system ValueSet.compose.include[0]'],
    ],
    [
      'includes value sets that there are',
      including({ valueSet: [`${HL7}ValueSet/administrative-gender`, 'http://b.org/vs'] }),
      ['warning value-set-import ValueSet.compose.include[0].valueSet[1]', 'warning value-set-import ValueSet.compose.include[0]'],
    ],
    ['may list codes of a system that only a service has', including({ system: 'http://snomed.info/sct', concept: [{ code: '1' }] }), []],
    ['filters by a property of the system', filtered('size', '=', '3'), []],
    ['should not filter by another property', filtered('weight', '=', '3'), [`warning ${filter}`]],
    ['compares with a value of the type', filtered('size', '=', 'x'), [`error ${filter}`]],
    ['compares with true or false', filtered('notSelectable', '=', '1'), [`error ${filter}`]],
    ['compares with each of a list', filtered('size', 'in', '1,x'), [`error ${filter}`]],
    ['compares with a code that exists', filtered('kind', '=', `${own.url}#b`), [`error ${filter}`]],
    ['writes a Coding with its system', filtered('kind', '=', 'b'), [`error ${filter}`]],
    ['is about concepts of the system', filtered('concept', 'is-a', 'a'), []],
    ['is about no other concepts', filtered('concept', 'is-a', 'b'), [`error ${filter}`]],
    ['knows no hierarchy of numbers', filtered('size', 'is-a', '3'), [`error ${filter}`]],
    ['asks whether something exists by true or false', filtered('size', 'exists', '1'), [`error ${filter}`]],
    ['may match by expression', filtered('size', 'regex', 'x'), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [own], /^value-set-(?!unknown)/)).toEqual(expected)
  })
})

describe('a value set with parameters', () => {
  const declared = {
    url: 'http://hl7.org/fhir/tools/StructureDefinition/valueset-parameter',
    extension: [{ url: 'name', valueCode: 'p-a' }],
  }
  const using = (expression: string): JsonObject => {
    const extension = [
      { url: 'http://hl7.org/fhir/StructureDefinition/cqf-expression', valueExpression: { language: 'text/fhirpath', expression } },
    ]
    const filter = [{ property: 'inactive', op: '=', _value: { extension } }]
    return { resourceType: 'ValueSet', extension: [declared], status: 'active', compose: { include: [{ system: 'http://a.org', filter }] } }
  }
  const at = 'ValueSet.compose.include[0].filter[0].extension[0].value'
  test.each<[string, string, readonly string[]]>([
    ['uses them in filters', '%p-a', []],
    ['uses no others', '%p-b', ['warning value-set-parameter ValueSet.extension[0]', `error value-set-expression ${at}`]],
    ['has expressions that can be read', '$ and %p-a', [`error value-set-expression ${at}`]],
  ])('%s', async (_, expression, expected) => {
    expect(await findingsOf(using(expression), [], /^value-set-(?:expression|parameter)/)).toEqual(expected)
  })
})
