import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { createContext } from '../../../context/index.js'
import { compileFhirPath, rootNode, type TypeModel } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import { memoryStorage } from '../../../memory/index.js'
import { jsonTest } from './json-test.js'

const { types: model } = createContext({ storage: memoryStorage(), ...r4() })

/** Whether a value surely meets an expression, and what the evaluation of the expression gives: an error where there is one. */
function both(expression: string, type: string, value: JsonObject): { readonly surely: boolean; readonly evaluated: unknown } {
  const own: TypeModel = model ?? { type: () => undefined, names: () => [] }
  const definition = own.type(type)
  if (definition === undefined) throw new Error(type)
  const surely = jsonTest(expression, own)(definition, (text) => compileFhirPath(text, { model: own }))(value)
  return { surely, evaluated: evaluated(own, { expression, type, value }) }
}

function evaluated(own: TypeModel, { expression, type, value }: { expression: string; type: string; value: JsonObject }): unknown {
  try {
    return compileFhirPath(expression, { model: own }).test({}, rootNode(own, value, type))
  } catch {
    return 'error'
  }
}

describe('invariants on JSON', () => {
  test.each<[expression: string, type: string, value: JsonObject]>([
    ['code.empty() or system.exists()', 'Quantity', { value: 1 }],
    ['code.empty() or system.exists()', 'Quantity', { code: 'kg', system: 'http://unitsofmeasure.org' }],
    ['extension.exists() != value.exists()', 'Extension', { url: 'http://example.org', valueCode: 'a' }],
    ['extension.exists() != value.exists()', 'Extension', { url: 'http://example.org', _valueCode: { id: 'a' } }],
    ['binding.empty() or binding.valueSet.exists()', 'ElementDefinition', { binding: { valueSet: 'http://example.org' } }],
    ['type.select(code).isDistinct()', 'ElementDefinition', { type: [{ code: 'a' }, { code: 'b' }] }],
    ["path.matches('^[A-Z]')", 'ElementDefinition', { path: 'Patient' }],
    ['start.hasValue().not() or end.hasValue().not() or (start <= end)', 'Period', { start: '2020-01-01', end: '2020-01-02' }],
    ['start.hasValue().not() or end.hasValue().not() or (start <= end)', 'Period', { start: '2020' }],
    ['(identifier.count() + name.count()) > 0', 'Organization', { resourceType: 'Organization', name: 'a' }],
    ['period >= 0', 'Timing.repeat', { period: 0.5 }],
    ["type in ('a' | 'b') implies text.exists()", 'Questionnaire.item', { type: 'c' }],
    ['contained.contained.empty()', 'Patient', { resourceType: 'Patient' }],
    ['contained.contained.empty()', 'Patient', { resourceType: 'Patient', contained: [{ resourceType: 'Observation', id: 'a' }] }],
    ['contained.meta.versionId.empty()', 'Patient', { contained: [{ resourceType: 'Binary', meta: { source: 'a' } }] }],
    ["max = '*' or iif(max != '*', min <= max.toInteger())", 'ElementDefinition', { min: 1, max: '12' }],
    ["iif(max = '*', false, true)", 'ElementDefinition', { max: '1' }],
    ["fullUrl.exists() implies fullUrl.contains('/_history/').not()", 'Bundle.entry', { fullUrl: 'http://example.org/Patient/1' }],
    ['system.empty() or system = %ucum', 'Quantity', { system: 'http://unitsofmeasure.org' }],
    ['value.empty() or component.code.where(coding.exists()).empty()', 'Observation', { resourceType: 'Observation', valueInteger: 1 }],
    ['entry.all(fullUrl.exists())', 'Bundle', { resourceType: 'Bundle' }],
    ['entry.exists(fullUrl.empty()).not()', 'Bundle', { resourceType: 'Bundle' }],
  ])('%s is surely met by %s %j', (expression, type, value) => {
    expect(both(expression, type, value)).toEqual({ surely: true, evaluated: true })
  })

  test.each<[expression: string, type: string, value: JsonObject]>([
    ['code.empty() or system.exists()', 'Quantity', { code: 'kg' }],
    ['code.empty() or system.exists()', 'Quantity', { _code: { id: 'a' } }],
    ['extension.exists() != value.exists()', 'Extension', { url: 'http://example.org' }],
    ['extension.exists() != value.exists()', 'Extension', { extension: [{ url: 'a', valueCode: 'a' }], valueInteger: 1 }],
    ['type.select(code).isDistinct()', 'ElementDefinition', { type: [{ code: 'a' }, { code: 'a' }] }],
    ["path.matches('^[A-Z]')", 'ElementDefinition', { path: 'patient' }],
    ['contained.contained.empty()', 'Patient', { contained: [{ resourceType: 'Patient', contained: [{ resourceType: 'Basic' }] }] }],
    ['contained.meta.versionId.empty()', 'Patient', { contained: [{ resourceType: 'Basic', meta: { versionId: '1' } }] }],
    ["iif(max != '*', min <= max.toInteger())", 'ElementDefinition', { min: 2, max: '1' }],
    ["iif(max != '*', min <= max.toInteger())", 'ElementDefinition', { min: 2, max: 'many' }],
    ["iif(max != '*', min >= 0)", 'ElementDefinition', { min: 2, max: '*' }],
    ["iif(max != '*')", 'ElementDefinition', { max: '1' }],
    ["path.matches('(?=a)')", 'ElementDefinition', { path: 'a' }],
    ['start.hasValue().not() or end.hasValue().not() or (start <= end)', 'Period', { start: '2020-01-02', end: '2020-01-01' }],
    ['period >= 0', 'Timing.repeat', { period: -1 }],
    ['period >= 0', 'Timing.repeat', {}],
    ['code.empty() or nothing()', 'Quantity', {}],
    ['code.empty() or', 'Quantity', {}],
    ['code.empty() or system.exists(1, 2)', 'Quantity', {}],
    ['code.empty() or (value = 99999999999)', 'Quantity', {}],
    ['comparator and code.empty()', 'Quantity', { comparator: '<', code: 'a' }],
    ['system.empty() or system = %ucum', 'Quantity', { system: 'http://example.org' }],
    ['value.empty() or %none', 'Quantity', { value: 1 }],
    ['component.code.where(coding.exists()).empty()', 'Observation', { component: [{ code: { coding: [{ code: 'a' }] } }] }],
    ['component.code.first().exists()', 'Observation', {}],
    ['entry.all(fullUrl.exists())', 'Bundle', { resourceType: 'Bundle', entry: [{ search: { mode: 'match' } }] }],
    ['entry.exists(fullUrl.exists())', 'Bundle', { resourceType: 'Bundle' }],
    ['entry.where(1, 2).empty()', 'Bundle', { resourceType: 'Bundle' }],
  ])('%s is not surely met by %s %j', (expression, type, value) => {
    const { surely, evaluated: result } = both(expression, type, value)
    expect(surely).toBe(false)
    expect(result).not.toBe(true)
  })

  test.each(['2020-01-01T10:00:00+01:00', '2020-01-01', '2021'])('leaves dates of other precision than %s to the evaluation', (start) => {
    expect(both('start <= end', 'Period', { start, end: '2020-01-01T10:00:00Z' }).surely).toBe(false)
  })
})
