import { r4 } from '@fhir-ops/r4'
import { describe, expect, test } from 'vitest'
import { createContext } from '../../../context/index.js'
import { compileFhirPath, rootNode, type TypeModel } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import { memoryStorage } from '../../../memory/index.js'
import { jsonTest } from './json-test.js'

const { types: model } = createContext({ storage: memoryStorage(), ...r4() })

/** Whether a value surely meets an expression, and what the evaluation of the expression gives: an error where there is one. */
function both(expression: string, type: string, value: JsonObject): { readonly surely: boolean | undefined; readonly evaluated: unknown } {
  const own: TypeModel = model ?? { type: () => undefined, names: () => [] }
  const definition = own.type(type)
  if (definition === undefined) throw new Error(type)
  const surely = jsonTest(expression, own, { isOnRoot: true })(definition, (text) => compileFhirPath(text, { model: own }))(value)
  return { surely, evaluated: evaluated(own, { expression, type, value }) }
}

function evaluated(own: TypeModel, { expression, type, value }: { expression: string; type: string; value: JsonObject }): unknown {
  try {
    const root = rootNode(own, value, type)
    return compileFhirPath(expression, { model: own }).test({ resource: root }, root)
  } catch {
    return 'error'
  }
}

const OF_TWO = {
  resourceType: 'StructureDefinition',
  type: 'Patient',
  snapshot: { element: [{ path: 'Patient' }, { path: 'Patient.name', label: 'Name', sliceName: 'a', slicing: { rules: 'open' } }] },
  differential: { element: [{ path: 'Patient.name', sliceName: 'a' }] },
}
const OF_COMPONENTS = {
  resourceType: 'Observation',
  component: [{ code: { text: 'a' } }, { code: { coding: [{ code: 'b' }], text: 'b' }, valueInteger: 1 }],
}

const CODES = "element.type.code.all(matches('^[a-z]+$') or matches('^[A-Z]'))"
const codes = (...types: readonly JsonObject[]): JsonObject => ({ element: [{ type: types }] })

const REQUESTS = "entry.all(request.exists() = (%resource.type = 'batch' or %resource.type = 'history'))"
const VERSIONS = "(type = 'history') or entry.where(fullUrl.exists()).select(fullUrl & resource.meta.versionId).isDistinct()"
const versions = (...versionIds: readonly (string | undefined)[]): JsonObject => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: versionIds.map((versionId) => ({
    fullUrl: 'urn:x:1',
    resource: { resourceType: 'Basic', meta: { source: 'a', ...(versionId && { versionId }) } },
  })),
})

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
    ['element.all(base.exists() and min.exists())', 'StructureDefinition.snapshot', { element: [{ base: { path: 'a' }, min: 0 }] }],
    ['element.all(short).not()', 'StructureDefinition.snapshot', { element: [{ path: 'a' }] }],
    ["element.where(path.contains('.').not()).slicing.empty()", 'StructureDefinition.snapshot', OF_TWO.snapshot],
    ["children().element.where(path.contains('.').not()).label.empty()", 'StructureDefinition', OF_TWO],
    ["(snapshot | differential).element.all(path.contains('.').not() implies sliceName.empty())", 'StructureDefinition', OF_TWO],
    ['snapshot.element.first().path = type', 'StructureDefinition', OF_TWO],
    ['snapshot.element.first().type.empty()', 'StructureDefinition', OF_TWO],
    ['differential.element.first().path.empty()', 'StructureDefinition', { ...OF_TWO, differential: { element: [] } }],
    ["element.exists(path = 'Patient.name')", 'StructureDefinition.snapshot', OF_TWO.snapshot],
    ["element.where(path = 'Patient').exists()", 'StructureDefinition.snapshot', OF_TWO.snapshot],
    ["component.where(value.exists()).code.coding.exists(code = 'b')", 'Observation', OF_COMPONENTS],
    ['component.where(value.exists()).code.text.exists()', 'Observation', OF_COMPONENTS],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle', type: 'batch', entry: [{ request: { url: 'a' } }, { request: { url: 'b' } }] }],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'a' }] }],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle' }],
    [VERSIONS, 'Bundle', versions('1', '2', undefined)],
    [VERSIONS, 'Bundle', { ...versions('1', '1'), type: 'history' }],
    [VERSIONS, 'Bundle', { resourceType: 'Bundle', type: 'batch', entry: [{ request: { url: 'a' } }, { fullUrl: 'urn:x:1' }] }],
    ["contact.select(gender & 'a').isDistinct()", 'Patient', { contact: [{ gender: 'male' }, { name: { text: 'a' } }] }],
    [CODES, 'StructureDefinition.snapshot', codes({ code: 'Quantity' }, { code: 'code' })],
    [CODES, 'StructureDefinition.snapshot', { element: [{ path: 'a' }] }],
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
    ['element.all(base.exists())', 'StructureDefinition.snapshot', { element: [{ base: { path: 'a' } }, { path: 'b' }] }],
    ['element.all(short)', 'StructureDefinition.snapshot', { element: [{ path: 'a' }] }],
    ['element.all(nothing())', 'StructureDefinition.snapshot', { element: [{ path: 'a' }] }],
    ["children().element.where(path.contains('.').not()).path.empty()", 'StructureDefinition', OF_TWO],
    ['snapshot.element.first().path != type', 'StructureDefinition', OF_TWO],
    ["element.exists(path = 'Patient.contact')", 'StructureDefinition.snapshot', OF_TWO.snapshot],
    ["element.where(path = 'Patient').empty()", 'StructureDefinition.snapshot', OF_TWO.snapshot],
    ['component.where(value.exists()).code.text.empty()', 'Observation', OF_COMPONENTS],
    ['component.where(value.exists()).interpretation.exists()', 'Observation', OF_COMPONENTS],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle', type: 'batch', entry: [{ request: { url: 'a' } }, { fullUrl: 'b' }] }],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle', type: 'collection', entry: [{ request: { url: 'a' } }] }],
    [REQUESTS, 'Bundle', { resourceType: 'Bundle', entry: [{ fullUrl: 'a' }] }],
    [VERSIONS, 'Bundle', versions('1', '2', '1')],
    [VERSIONS, 'Bundle', versions(undefined, undefined)],
    [VERSIONS, 'Bundle', { resourceType: 'Bundle', entry: [{ fullUrl: 'urn:x:1' }, { fullUrl: 'urn:x:1' }] }],
    ["contact.select(gender & 'a').isDistinct()", 'Patient', { contact: [{ gender: 'male' }, { gender: 'male' }] }],
    [CODES, 'StructureDefinition.snapshot', codes({ code: 'Quantity' }, { code: '1' })],
    ["element.type.code.all(matches('a') or nothing())", 'StructureDefinition.snapshot', codes({ code: 'a' })],
    ["element.type.code.all(matches('a', 'b'))", 'StructureDefinition.snapshot', codes({ code: 'a' })],
  ])('%s is not surely met by %s %j', (expression, type, value) => {
    const { surely, evaluated: result } = both(expression, type, value)
    expect(surely).not.toBe(true)
    expect(result).not.toBe(true)
    if (surely === false) expect(result).toBe(false)
  })

  test.each<[expression: string, type: string, value: JsonObject]>([
    [CODES, 'StructureDefinition.snapshot', codes({ code: 'a'.repeat(1_001) })],
    [CODES, 'StructureDefinition.snapshot', codes({ _code: { id: 'a' } })],
    [CODES, 'StructureDefinition.snapshot', codes({ code: 1 })],
    ["element.type.code.all(matches('a') and matches('b'))", 'StructureDefinition.snapshot', codes({ code: 'ab' })],
    // What is beside a value, or is none, only the evaluation can read; so it does resources in resources, and equal items count once.
    ['element.all(path.exists())', 'StructureDefinition.snapshot', { element: [{ path: 'a' }], _element: [{ id: 'a' }] }],
    ['element.all(path.exists())', 'StructureDefinition.snapshot', { element: [{ path: 'a' }, null] }],
    ['children().element.label.empty()', 'StructureDefinition', { ...OF_TWO, contained: [OF_TWO] }],
    ['component.where(value.exists() and value > 1).empty()', 'Observation', OF_COMPONENTS],
    ['component.where(value.exists()).count() = 1', 'Observation', OF_COMPONENTS],
    ['component.first().code.where($this.text.exists()).exists()', 'Observation', OF_COMPONENTS],
    [VERSIONS, 'Bundle', { type: 'batch', entry: [{ fullUrl: 'a', resource: { resourceType: 'Nothing', meta: { versionId: '1' } } }] }],
    [
      VERSIONS,
      'Bundle',
      { type: 'batch', entry: [{ fullUrl: 'a', resource: { resourceType: 'Basic', meta: { _versionId: { id: 'a' } } } }] },
    ],
    ['entry.where(resource.status.exists()).empty()', 'Bundle', { entry: [{ resource: { resourceType: 'Bundle', type: 'batch' } }] }],
  ])('%s is left to the evaluation for %s %j', (expression, type, value) => {
    expect(both(expression, type, value).surely).toBeUndefined()
  })

  test('%resource is left to the evaluation where the tested resource may be inside the one that is meant', () => {
    const [own, type] = [model, model?.type('Bundle')]
    if (own === undefined || type === undefined) throw new Error('Bundle')
    const expression = "%resource.type = 'batch'"
    const surely = (isOnRoot: boolean): boolean | undefined =>
      jsonTest(expression, own, { isOnRoot })(type, (text) => compileFhirPath(text, { model: own }))({ type: 'batch' })
    expect([surely(true), surely(false)]).toEqual([true, undefined])
  })

  test.each(['2020-01-01T10:00:00+01:00', '2020-01-01', '2021'])('leaves dates of other precision than %s to the evaluation', (start) => {
    expect(both('start <= end', 'Period', { start, end: '2020-01-01T10:00:00Z' }).surely).toBeUndefined()
  })
})
