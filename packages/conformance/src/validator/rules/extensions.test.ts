import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition/'
const URL = 'http://extensions.test/e'
const definition = (expression: string): JsonObject => ({
  resourceType: 'StructureDefinition',
  url: URL,
  name: 'E',
  status: 'active',
  kind: 'complex-type',
  abstract: false,
  type: 'Extension',
  context: [{ type: 'element', expression }],
  baseDefinition: `${BASE}Extension`,
  derivation: 'constraint',
  differential: { element: [{ path: 'Extension' }, { path: 'Extension.url', fixedUri: URL }] },
})
const extension = [{ url: URL, valueString: 'x' }]
const valueSet = { resourceType: 'ValueSet', status: 'draft', extension }
const patient = { resourceType: 'Patient', extension }

test('an extension whose definition has no context is allowed nowhere', async () => {
  const { context, ...homeless } = definition('Patient')
  expect(context).toBeDefined()
  expect(await findingsOf(patient, [homeless], /^extension-/)).toEqual(['error extension-context Patient'])
})

test('a part of an extension that is a modifier does not make a modifier of the extension', async () => {
  const element = [{ path: 'Extension.extension', isModifier: true, isModifierReason: 'It is.' }]
  expect(await findingsOf(patient, [{ ...definition('Patient'), differential: { element } }], /^extension-/)).toEqual([])
})

const crossVersion = (release: string, path: string): string => `http://hl7.org/fhir/${release}/StructureDefinition/extension-${path}`
const NO_SUCH = 'error extension-release Patient.extension[0]'
const UNKNOWN = 'error extension-unknown Patient.extension[0]'

test.each<readonly [what: string, extension: JsonObject, said: readonly string[]]>([
  ['a value of another type', { url: URL, valueString: 'x' }, ['error type-not-allowed Patient.extension[0]']],
  ['a value of its type', { url: URL, valueBoolean: true }, []],
  ['a relative url', { url: 'relative', valueString: 'x' }, ['error extension-url Patient.extension[0]']],
  ['an empty url', { url: '', valueString: 'x' }, ['error extension-url-missing Patient.extension[0]']],
  ['no url', { valueString: 'x' }, ['error extension-url-missing Patient.extension[0]']],
  ['the url of an element of another release', { url: crossVersion('3.0', 'Patient.animal'), valueString: 'x' }, []],
  ['the url of an element that both have', { url: crossVersion('5.0', 'Patient.contact.name'), valueString: 'x' }, []],
  ['the url of an element of a type that R4 has not', { url: crossVersion('5.0', 'Transport.status'), valueCode: 'x' }, []],
  ['the url of a choice of another release', { url: crossVersion('5.0', 'Patient.deceased'), valueString: 'x' }, []],
  ['a url with white space', { url: 'http://a.org/x y', valueString: 'x' }, ['error extension-url Patient.extension[0]']],
  ['the url of no release', { url: crossVersion('9.0', 'Patient.foo'), valueString: 'x' }, [NO_SUCH]],
  ['the url of an element of the release of the resource', { url: crossVersion('4.0', 'Patient.name'), valueString: 'x' }, [NO_SUCH]],
  ['the url of an element that the release has not', { url: crossVersion('5.0', 'Patient.foo'), valueString: 'x' }, [NO_SUCH]],
  ['the url of an element of no type', { url: crossVersion('5.0', 'Paitent.animal'), valueString: 'x' }, [NO_SUCH]],
  [
    'the url of an element of another type',
    { url: crossVersion('5.0', 'Observation.triggeredBy'), valueString: 'x' },
    ['warning extension-context Patient'],
  ],
  ['the url of no element', { url: crossVersion('5.0', 'Patient'), valueString: 'x' }, [UNKNOWN]],
])('an extension with %s', async (_, one, said) => {
  const typed = {
    ...definition('Patient'),
    differential: { element: [{ path: 'Extension.value[x]', type: [{ code: 'boolean' }] }] },
  }
  expect(await findingsOf({ resourceType: 'Patient', extension: [one] }, [typed], /^(extension-|type-)/)).toEqual(said)
})

test('a value of another type in a part of an extension is wrong itself', async () => {
  const part = { url: 'code', valueString: 'x' }
  const nationality = { url: `${BASE}patient-nationality`, extension: [part] }
  expect(await findingsOf({ resourceType: 'Patient', extension: [nationality] }, [], /^type-/)).toEqual([
    'error type-not-allowed Patient.extension[0].extension[0].value.ofType(string)',
  ])
})

test.each<readonly [context: string, resource: JsonObject, said: readonly string[]]>([
  ['CanonicalResource', valueSet, []],
  ['MetadataResource', valueSet, []],
  ['CanonicalResource', { ...valueSet, resourceType: 'NamingSystem' }, []],
  ['CanonicalResource', patient, ['error extension-context Patient']],
  ['Patient', patient, []],
  ['DomainResource', patient, []],
  ['ValueSet', patient, ['error extension-context Patient']],
])('an extension for %s on %j', async (context, resource, said) => {
  expect(await findingsOf(resource, [definition(context)], /^extension-/)).toEqual(said)
})

test('a complex extension has only the parts that its definition names', async () => {
  const part = (name: string): JsonObject[] => [
    { path: 'Extension.extension', sliceName: name },
    { path: 'Extension.extension.url', fixedUri: name },
  ]
  const complex = { ...definition('Patient'), differential: { element: [{ path: 'Extension' }, ...part('a'), ...part('b')] } }
  const parts = ['a', 'c'].map((url) => ({ url, valueString: 'x' }))
  expect(await findingsOf({ resourceType: 'Patient', extension: [{ url: URL, extension: parts }] }, [complex], /^extension-/)).toEqual([
    'error extension-url Patient.extension[0].extension[1]',
  ])
})

test.each<readonly [what: string, stated: JsonObject]>([
  ['is retired', { status: 'retired' }],
  ['is deprecated', { extension: [{ url: `${BASE}structuredefinition-standards-status`, valueCode: 'deprecated' }] }],
])('an extension that %s is noted once', async (_, stated) => {
  const twice = { resourceType: 'Patient', extension: [...extension, ...extension] }
  expect(await findingsOf(twice, [{ ...definition('Patient'), ...stated }], /^extension-/)).toEqual([
    'information extension-outdated Patient.extension[0]',
  ])
})

test.each<readonly [what: string, extension: JsonObject, severity: string]>([
  ['an element of another release', { url: crossVersion('5.0', 'Appointment.status'), valueCode: 'x' }, 'warning'],
  ['a reason for its absence', { url: `${BASE}data-absent-reason`, valueCode: 'unknown' }, 'error'],
])('a required code in whose place there is %s', async (_, one, severity) => {
  const resource = { resourceType: 'Appointment', _status: { extension: [one] }, participant: [{ status: 'accepted' }] }
  expect(await findingsOf(resource, [], /^code-not-in-value-set/)).toEqual([`${severity} code-not-in-value-set Appointment.status`])
})

test('what is in no slice of extensions that a profile has is noted', async () => {
  const profile = {
    ...profileOn('Patient', 'http://extensions.test/p', [
      { path: 'Patient.extension', slicing: { discriminator: [{ type: 'value', path: 'url' }], rules: 'open' } },
      { path: 'Patient.extension', sliceName: 'e', type: [{ code: 'Extension', profile: [URL] }] },
    ]),
  }
  const other = { url: `${BASE}patient-birthPlace`, valueAddress: { city: 'Rome' } }
  const resource = { resourceType: 'Patient', meta: { profile: ['http://extensions.test/p'] }, extension: [other, ...extension] }
  expect(await findingsOf(resource, [profile, definition('Patient')], /^slice-/)).toEqual([
    'information slice-unmatched Patient.extension[0]',
  ])
})

const USE = `${BASE}version-specific-use`
const releases = (start?: string, end?: string): JsonObject => ({
  url: USE,
  extension: [
    ...(start === undefined ? [] : [{ url: 'startFhirVersion', valueCode: start }]),
    ...(end === undefined ? [] : [{ url: 'endFhirVersion', valueCode: end }]),
  ],
})

test.each<readonly [start: string | undefined, end: string | undefined, said: readonly string[]]>([
  ['4.0', '4.3', []],
  ['4.0.1', undefined, []],
  [undefined, '4.0', []],
  ['5.0', undefined, ['error extension-context Patient']],
  [undefined, '3.0.2', ['error extension-context Patient']],
])('an extension for the releases from %s to %s, and one whose context is for these', async (start, end, said) => {
  const own = { ...definition('Patient'), extension: [releases(start, end)] }
  const ofContext = { ...definition('Patient'), context: [{ type: 'element', expression: 'Patient', extension: [releases(start, end)] }] }
  expect(await findingsOf(patient, [own], /^extension-context/)).toEqual(said)
  expect(await findingsOf(patient, [ofContext], /^extension-context/)).toEqual(said)
})

test.each([
  [`${BASE}patient-birthPlace|4.0.1`, ['error extension-url Patient.extension[0]']],
  ['http://a.org/x|1', ['warning extension-url Patient.extension[0]', 'error extension-unknown Patient.extension[0]']],
])('the version in %s', async (url, said) => {
  const resource = { resourceType: 'Patient', extension: [{ url, valueAddress: { city: 'Rome' } }] }
  expect(await findingsOf(resource, [], /^extension-u/)).toEqual(said)
})

test.each(['1.0.0', '2.0.0'])('an extension with the version %s in its url has the contexts of its definition', async (version) => {
  const versioned = { resourceType: 'Patient', extension: [{ ...extension[0], url: `${URL}|${version}` }] }
  expect(await findingsOf(versioned, [{ ...definition('Observation'), version: '1.0.0' }], /^extension-context/)).toEqual([
    'error extension-context Patient',
  ])
})

test('the url of a definition of something else is not one of an extension', async () => {
  const resource = { resourceType: 'Patient', extension: [{ url: `${BASE}Patient`, valueString: 'x' }] }
  expect(await findingsOf(resource, [], /^extension-/)).toEqual(['error extension-unknown Patient.extension[0]'])
})

const inContext = (type: string, expression: string, members: JsonObject = {}): JsonObject => ({
  ...definition('Patient'),
  context: [{ type, expression }],
  ...members,
})

test.each<readonly [what: string, definition: JsonObject]>([
  ['a context', inContext('fhirpath', 'Patient.name.where(')],
  ['an invariant of a context', inContext('element', 'Patient', { contextInvariant: ['name.where('] })],
])('%s that cannot be evaluated allows nothing', async (_, one) => {
  expect(await findingsOf(patient, [one], /^extension-/)).toEqual(['error extension-context Patient'])
})

test.each([
  ['Observation.value[x]', []],
  ['Observation.valueQuantity', []],
  ['Observation.valueString', ['error extension-context Observation.value.ofType(Quantity)']],
])('the context of a choice by the name that it has in JSON: %s', async (expression, said) => {
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity: { value: 1, extension } }
  expect(await findingsOf(observation, [definition(expression)], /^extension-/)).toEqual(said)
})

test.each([
  ['Timing.repeat', []],
  ['Timing', []],
  ['Element', []],
  ['BackboneElement', ['error extension-context ServiceRequest.occurrence.ofType(Timing).repeat']],
])('an extension for %s on the parts of a data type, which are no backbone elements', async (context, said) => {
  const repeat = { frequency: 1, extension }
  const on = context === 'Timing' ? { code: { text: 'x' }, extension } : { repeat }
  const resource = { resourceType: 'ServiceRequest', status: 'active', intent: 'order', subject: { display: 'x' }, occurrenceTiming: on }
  expect(await findingsOf(resource, [definition(context)], /^extension-context/)).toEqual(said)
})

test.each<readonly [limit: string, value: number, members: JsonObject, said: readonly string[]]>([
  ['max', 1, {}, []],
  ['max', 2, {}, ['error extension-context Questionnaire.item[0]']],
  ['max', 2, { repeats: true }, []],
  ['min', 0, {}, []],
  ['min', 1, {}, ['error extension-context Questionnaire.item[0]']],
  ['min', 1, { required: true }, []],
])(
  "the extension for the %simum number of answers of %s, which R4's invariant calls valueInteger, with %j",
  async (limit, value, members, said) => {
    const extension = [{ url: `http://hl7.org/fhir/StructureDefinition/questionnaire-${limit}Occurs`, valueInteger: value }]
    const form = { resourceType: 'Questionnaire', status: 'draft', item: [{ linkId: 'a', type: 'string', ...members, extension }] }
    expect(await findingsOf(form, [], /^extension-context/)).toEqual(said)
  },
)

test.each<readonly [what: string, members: JsonObject, said: readonly string[]]>([
  ['a format', { _format: [expectation()] }, []],
  ['a resource', { rest: [{ mode: 'server', resource: [{ type: 'Patient', ...expectation() }] }] }, []],
  ['security', { rest: [{ mode: 'server', security: { cors: true, ...expectation() } }] }, []],
  ['its name', { _name: expectation() }, ['error extension-context CapabilityStatement.name']],
])('an expectation of a CapabilityStatement may be stated for %s or not', async (_, members, said) => {
  const statement = {
    resourceType: 'CapabilityStatement',
    name: 'C',
    status: 'active',
    date: '2024',
    kind: 'requirements',
    fhirVersion: '4.0.1',
    description: 'x',
    format: ['json'],
    rest: [{ mode: 'server' }],
    ...members,
  }
  expect(await findingsOf(statement, [], /^extension-/)).toEqual(said)
})

function expectation(): JsonObject {
  return { extension: [{ url: `${BASE}capabilitystatement-expectation`, valueCode: 'SHALL' }] }
}
