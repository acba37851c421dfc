import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a profile that says to comply with another', /^definition-obligation$/)
const HL7 = 'http://hl7.org/fhir/'
const SDU = `${HL7}StructureDefinition/`

let count = 0
const profile = (elements: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  resourceType: 'StructureDefinition',
  url: `http://a.org/StructureDefinition/p${++count}`,
  name: 'P',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Observation',
  baseDefinition: `${SDU}Observation`,
  derivation: 'constraint',
  differential: { element: [e('Observation'), ...elements] },
  ...more,
})
const e = (path: string, more: JsonObject = {}, id = path): JsonObject => ({ id, path, ...more })

/** The other profile demands what the one given does, and a profile says that it complies with it. */
const complies = (name: string, expected: readonly string[], mine: readonly JsonObject[], theirs: readonly JsonObject[]): void => {
  const other = profile(theirs)
  const extension = [{ url: SDU + 'structuredefinition-compliesWithProfile', valueCanonical: other['url'] }]
  add(name, expected, profile(mine, { extension }), [other, COLOURS, OTHER_COLOURS])
}
const colours = (url: string, ...codes: readonly string[]): JsonObject => ({
  resourceType: 'ValueSet',
  url,
  status: 'active',
  compose: { include: [{ system: HL7 + 'administrative-gender', concept: codes.map((code) => ({ code })) }] },
})
const COLOURS = colours('http://a.org/few', 'male')
const OTHER_COLOURS = colours('http://a.org/many', 'male', 'female')
const BREAKS = ['error|invalid definition-obligation StructureDefinition']
const UNSURE = ['warning|invalid definition-obligation StructureDefinition']
const bound = (valueSet: string, strength = 'required'): readonly JsonObject[] => [
  e('Observation.method', { binding: { strength, valueSet } }),
]
const coded = (code: string): JsonObject => ({ patternCodeableConcept: { coding: [{ system: 'http://a.org/x', code }] } })
const components = (slicing: JsonObject, ...slices: readonly string[]): readonly JsonObject[] => [
  e('Observation.component', { slicing: { discriminator: [{ type: 'value', path: 'code' }], rules: 'open', ...slicing } }),
  ...slices.flatMap((slice) => [
    e('Observation.component', { sliceName: slice, min: 1 }, `Observation.component:${slice}`),
    e('Observation.component.code', coded(slice), `Observation.component:${slice}.code`),
  ]),
]
complies('the same: SD_EXTENSION_COMPLIES_WITH_ERROR', [], [e('Observation.method', { min: 1 })], [e('Observation.method', { min: 1 })])
complies('min: SD_EXTENSION_COMPLIES_WITH_ERROR', BREAKS, [], [e('Observation.method', { min: 1 })])
complies('max: SD_EXTENSION_COMPLIES_WITH_ERROR', BREAKS, [], [e('Observation.category', { max: '1' })])
complies(
  'forbidden',
  [],
  [e('Observation.method', { max: '0' })],
  [e('Observation.method.text', { min: 1 }), e('Observation.device', { max: '1' })],
)
complies('fixed value', BREAKS, [e('Observation.status', { patternCode: 'final' })], [e('Observation.status', { fixedCode: 'final' })])
complies(
  'pattern in a fixed value',
  [],
  [e('Observation.status', { fixedCode: 'final' })],
  [e('Observation.status', { patternCode: 'final' })],
)
complies('other pattern', BREAKS, [e('Observation.code', coded('a'))], [e('Observation.code', coded('b'))])
complies('types', BREAKS, [], [e('Observation.value[x]', { type: [{ code: 'Quantity' }] })])
complies('targets', BREAKS, [], [e('Observation.subject', { type: [{ code: 'Reference', targetProfile: [SDU + 'Patient'] }] })])
complies(
  'limits',
  BREAKS,
  [e('Observation.component.value[x]', { type: [{ code: 'integer' }], maxValueInteger: 9 })],
  [e('Observation.component.value[x]', { type: [{ code: 'integer' }], maxValueInteger: 8 })],
)
complies(
  'stricter limits',
  [],
  [e('Observation.component.value[x]', { type: [{ code: 'integer' }], maxValueInteger: 7 })],
  [e('Observation.component.value[x]', { type: [{ code: 'integer' }], maxValueInteger: 8 })],
)
complies(
  'constraints',
  BREAKS,
  [],
  [e('Observation.note', { constraint: [{ key: 'n-1', severity: 'error', human: 'x', expression: 'text.exists()' }] })],
)
complies('no binding', BREAKS, [], bound('http://a.org/many'))
complies('fewer codes', [], bound('http://a.org/few'), bound('http://a.org/many'))
complies('more codes', BREAKS, bound('http://a.org/many'), bound('http://a.org/few'))
complies('weaker', BREAKS, bound('http://a.org/few', 'extensible'), bound('http://a.org/many'))
complies('value set unknown: SD_EXTENSION_COMPLIES_WITH_WARNING', UNSURE, bound('http://a.org/few'), bound('http://a.org/nowhere'))
complies('value set known: SD_EXTENSION_COMPLIES_WITH_WARNING', [], bound('http://a.org/few'), bound('http://a.org/few|1.0.0'))
complies('no slices', BREAKS, [], components({}, 'a'))
complies('the slices in another order', [], components({}, 'b', 'a'), components({}, 'a', 'b'))
complies('no such slice', BREAKS, components({}, 'b'), components({}, 'a'))
complies('not closed', BREAKS, components({}, 'a'), components({ rules: 'closed' }, 'a'))
complies('not ordered', BREAKS, components({}, 'a'), components({ ordered: true }, 'a'))
complies('below a slice', BREAKS, components({}, 'a'), [
  ...components({}, 'a'),
  e('Observation.component.interpretation', { min: 1 }, 'Observation.component:a.interpretation'),
])
complies(
  'a slice of another name',
  [],
  [
    ...components({}).slice(0, 1),
    e('Observation.component', { sliceName: 'own', min: 1 }, 'Observation.component:own'),
    e('Observation.component.code', coded('a'), 'Observation.component:own.code'),
  ],
  components({}, 'a'),
)
complies(
  'of another type: SD_EXTENSION_COMPLIES_WITH_ERROR',
  ['error|invalid definition-obligation StructureDefinition'],
  [],
  [e('Observation.value[x]', { type: [{ code: 'string' }] })],
)
