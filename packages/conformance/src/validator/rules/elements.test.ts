import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { findingsOf, issuesOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const ctx = createContext({ storage: memoryStorage(), ...r4() })
const patient = (members: JsonObject): JsonObject => ({ resourceType: 'Patient', ...members })
const managed = (managingOrganization: JsonObject): JsonObject => patient({ managingOrganization })
const REFERENCE = 'reference Patient.managingOrganization'

describe('ids of elements', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'are unique',
      patient({
        name: [
          { id: 'a', family: 'x' },
          { id: 'b', family: 'y' },
        ],
      }),
      [],
    ],
    [
      'cannot come again',
      patient({
        name: [
          { id: 'a', family: 'x' },
          { id: 'a', family: 'y' },
        ],
      }),
      ['error element-id Patient.name[1]'],
    ],
    [
      'cannot come again on primitive values',
      patient({ name: [{ id: 'a', family: 'x' }], active: true, _active: { id: 'a' } }),
      ['error element-id Patient.active'],
    ],
    ['may be that of the resource', patient({ id: 'a', name: [{ id: 'a', family: 'x' }] }), []],
    [
      'may come again in another resource',
      patient({
        name: [{ id: 'a', family: 'x' }],
        contained: [{ resourceType: 'Organization', id: 'o', telecom: [{ id: 'a', system: 'url', value: 'http://x.org' }] }],
        managingOrganization: { reference: '#o' },
      }),
      [],
    ],
    ['have no white space', patient({ name: [{ id: 'a b', family: 'x' }] }), ['error id-form Patient.name[0].id']],
    ['are of any other form', patient({ name: [{ id: '/a_b==', family: 'x' }] }), []],
  ])('%s', async (_, resource, expected) => {
    expect(await findingsOf(resource, [], /^(?:element-id|id-form)$/)).toEqual(expected)
  })
})

const DATA_ABSENT = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason'

test.each<[JsonObject, readonly string[]]>([
  [{ system: 'http://x.org/ids', value: 'x' }, []],
  [{ system: 'x/ids', value: 'x' }, ['error identifier Patient.identifier[0]']],
  [{ system: 'urn:ietf:rfc:3986', value: 'urn:oid:1.2.36.1' }, []],
  [{ system: 'urn:ietf:rfc:3986', value: 'x' }, ['error identifier Patient.identifier[0]']],
  [
    { system: 'https://tools.ietf.org/html/rfc4122', value: 'c757873d-ec9a-4326-a141-556f43239520' },
    ['warning identifier Patient.identifier[0]'],
  ],
  [{ system: 'https://tools.ietf.org/html/rfc4122', value: 'urn:uuid:c757873d' }, ['warning identifier Patient.identifier[0]']],
  // TYPE_SPECIFIC_CHECKS_DT_IDENTIFIER_IETF_SYSTEM_WRONG_1
  [{ system: 'https://tools.ietf.org/html/rfc4122', value: '17' }, ['error identifier Patient.identifier[0]']],
])('the identifier %j', async (identifier, expected) => {
  expect(await findingsOf(patient({ identifier: [identifier] }), [], /^identifier$/)).toEqual(expected)
})

test.each<[JsonObject, readonly string[]]>([
  [{ data: 'AAAA' }, []],
  [{ contentType: 'image/png' }, []],
  [{ title: 'x' }, ['warning attachment Patient.photo[0]']],
  [{ data: 'AAAA', size: 4 }, ['error attachment Patient.photo[0]']],
  [{ _contentType: { extension: [{ url: `${DATA_ABSENT}`, valueCode: 'unknown' }] } }, []],
  [{ data: 'YWJj', hash: 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0=' }, []],
  [{ data: 'YW\nJj', hash: 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0=' }, []],
  [{ data: 'YWJj', hash: 'AAAA' }, ['error attachment Patient.photo[0]']],
  [{ data: 'YWJj', hash: 'a9993e364706816aba3e25717850c26c9cd0d89d' }, ['warning attachment Patient.photo[0]']],
])('the attachment %j', async (attachment, expected) => {
  expect(await findingsOf(patient({ photo: [attachment] }), [], /^attachment$/)).toEqual(expected)
})

test.each<[JsonObject, readonly string[]]>([
  [{ display: 'x' }, []],
  [{ identifier: { value: 'x' } }, []],
  [{ type: 'Organization' }, [`warning ${REFERENCE}`]],
  [{ reference: 'Organization/1', type: 'Organization' }, []],
  [{ reference: 'http://x.org/fhir/Organization/1', type: 'Patient' }, [`error ${REFERENCE}`, `error ${REFERENCE}`]],
  [{ reference: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', type: 'Patient' }, [`error ${REFERENCE}`]],
  [{ reference: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', type: 'Organization' }, []],
  [{ reference: 'Organization?identifier=http://x.org|1&active=true' }, []],
  [{ reference: 'Organization?identifier' }, [`error ${REFERENCE}`]],
  [{ reference: 'Organization/ 1' }, [`error ${REFERENCE}`]],
])('the reference %j', async (reference, expected) => {
  expect(await findingsOf(managed(reference), [], /^reference$/)).toEqual(expected)
})

test.each<[JsonObject, readonly string[]]>([
  [{ status: 'draft' }, []],
  [{ status: 'active', extension: [standing('normative')] }, []],
  [{ status: 'active', extension: [standing('draft')] }, ['warning definition-status ValueSet']],
  [{ status: 'active', extension: [standing('trial-use')] }, []],
  [{ status: 'draft', extension: [standing('trial-use')] }, ['information definition-status ValueSet']],
  [{ status: 'draft', extension: [standing('informative')] }, []],
  [{ status: 'retired', extension: [standing('informative')] }, ['information definition-status ValueSet']],
  [{ status: 'retired', extension: [standing('external')] }, ['information definition-status ValueSet']],
  [{ status: 'active', version: '1#2' }, ['warning definition-status ValueSet']],
  [{ status: 'active', description: 'Deprecated since 2020.' }, ['information definition-status ValueSet']],
  [{ status: 'retired', description: 'deprecated', extension: [standing('deprecated')] }, []],
])('the definition with %j', async (members, expected) => {
  expect(await findingsOf({ resourceType: 'ValueSet', ...members }, [], /^definition-status$/)).toEqual(expected)
})

test('the status of a naming system, which has no url, is checked, too', async () => {
  const system = {
    resourceType: 'NamingSystem',
    name: 'N',
    status: 'active',
    kind: 'codesystem',
    date: '2024',
    uniqueId: [{ type: 'uri', value: 'http://a.test' }],
    extension: [standing('draft')],
  }
  expect(await findingsOf(system, [], /^definition-status$/)).toEqual(['warning definition-status NamingSystem'])
})

function standing(valueCode: string): JsonObject {
  return { url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status', valueCode }
}

test('the type of a reference without target is no URL either, unlike the types of logical models', async () => {
  const said = (type: string): Promise<readonly string[]> => findingsOf(managed({ type, display: 'a' }), [], /^code-not-in-value-set$/)
  expect(await said('Organization')).toEqual([])
  expect(await said('http://hl7.org/fhir/StructureDefinition/Organization')).toEqual([
    'warning code-not-in-value-set Patient.managingOrganization.type',
  ])
})

const GROUP = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-wg'
const PAGE = 'http://www.hl7.org/Special/committees/fiwg'
const PUBLISHED = {
  url: 'http://hl7.org/fhir/uv/a/ValueSet/a',
  extension: [{ url: GROUP, valueCode: 'fhir' }],
  publisher: 'HL7 International / FHIR Infrastructure',
  contact: [{ telecom: [{ system: 'url', value: PAGE }] }],
}

test.each<[string, JsonObject, readonly string[]]>([
  ['of HL7, with the name and the page of its work group', {}, []],
  [
    'of HL7, with the name of another work group: VALIDATION_HL7_PUBLISHER_MISMATCH',
    { publisher: 'HL7 International / Devices' },
    ['error'],
  ],
  ['of HL7, with the name of no work group: VALIDATION_HL7_PUBLISHER_MISMATCH (2)', { publisher: 'HL7 International' }, ['warning']],
  ['of HL7, with the name of an organization outside: VALIDATION_HL7_PUBLISHER_MISMATCH (3)', { publisher: 'NEMA/DICOM' }, ['warning']],
  ['of HL7, without a publisher: VALIDATION_HL7_PUBLISHER_MISSING', { publisher: undefined }, ['warning']],
  ['of HL7, without the page of the work group: VALIDATION_HL7_WG_URL', { contact: [] }, ['warning']],
  [
    'of HL7, with the page as another kind of address: VALIDATION_HL7_WG_URL (2)',
    { contact: [{ telecom: [{ system: 'email', value: PAGE }] }] },
    ['warning'],
  ],
  ['of HL7, of an unknown work group: VALIDATION_HL7_WG_UNKNOWN', { extension: [{ url: GROUP, valueCode: 'none' }] }, ['error']],
  [
    'of HL7, of two work groups: VALIDATION_HL7_PUBLISHER_MULTIPLE_WGS',
    { extension: ['fhir', 'oo'].map((valueCode) => ({ url: GROUP, valueCode })) },
    ['error'],
  ],
  [
    'of HL7, of a work group with two names: VALIDATION_HL7_PUBLISHER_MISMATCH2',
    { extension: [{ url: GROUP, valueCode: 'ti' }] },
    ['error', 'warning'],
  ],
  ['of HL7, without work group', { extension: [], publisher: 'A', contact: [] }, []],
  ['of others', { url: 'http://a.org/ValueSet/a', publisher: 'A', contact: [] }, []],
])('a definition %s', async (_, members, severities) => {
  const expected = severities.map((severity) => `${severity} work-group ValueSet`)
  expect(await findingsOf({ resourceType: 'ValueSet', status: 'active', ...PUBLISHED, ...members }, [], /^work-group$/)).toEqual(expected)
})

test('a security label is there once', async () => {
  const label = (code: string): JsonObject => ({ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code })
  const labelled = (...codes: readonly string[]): JsonObject => ({ resourceType: 'Patient', meta: { security: codes.map(label) } })
  expect(await findingsOf(labelled('N', 'R'), [], /^security/)).toEqual([])
  expect(await findingsOf(labelled('N', 'R', 'N'), [], /^security/)).toEqual(['error security-label-repeated Patient.meta.security[2]'])
})

test('ids of what is contained are there once', async () => {
  const contained = ['a', 'b'].map((name) => ({ resourceType: 'Organization', id: 'o', name }))
  const resource = { resourceType: 'Patient', contained, managingOrganization: { reference: '#o' } }
  expect(await findingsOf(resource, [], /^contained/)).toEqual(['error contained Patient.contained[1]'])
})

test('an empty array is reported, and that what it should hold is not there', async () => {
  expect(await findingsOf({ resourceType: 'OperationOutcome', issue: [] }, [], /^(empty-array|too-few)$/)).toEqual([
    'error too-few OperationOutcome',
    'error empty-array OperationOutcome.issue',
  ])
})

test('what is contained is referred to from elsewhere, or refers to what contains it: CONTAINED_ORPHAN_DOM3', async () => {
  const contained = (id: string, reference: string): JsonObject => ({
    resourceType: 'Patient',
    id,
    link: [{ other: { reference }, type: 'refer' }],
  })
  const said = (...all: readonly JsonObject[]): Promise<readonly string[]> => findingsOf(patient({ contained: all }), [], /^contained/)
  expect(await said(contained('a', '#a'))).toEqual(['error contained Patient.contained[0]'])
  expect(await said(contained('a', '#'))).toEqual([])
  expect(await said(contained('a', '#b'), contained('b', '#a'))).toEqual([])
  expect(await said(contained('a', '#b'), contained('b', '#b'))).toEqual(['error contained Patient.contained[0]'])
})

test('what is contained and no object is reported as that alone', async () => {
  expect(await findingsOf(patient({ contained: [1] }), [], /./)).toEqual(['error object-expected Patient.contained[0]'])
})

test.each<[string, JsonObject, string]>([
  ['no object', patient({ _birthDate: 1 }), 'object-expected Patient.birthDate'],
  ['null', patient({ _birthDate: null }), 'null-not-allowed Patient.birthDate'],
  ['a list', patient({ _birthDate: [{ id: 'a' }] }), 'array-not-allowed Patient.birthDate'],
  ['no list', patient({ name: [{ _given: { id: 'a' } }] }), 'array-expected Patient.name[0].given'],
  ['beside a choice', patient({ _deceasedBoolean: 1 }), 'object-expected Patient.deceased.ofType(boolean)'],
])('what is beside a primitive value is named by the element: %s', async (_, resource, said) => {
  expect(await findingsOf(resource, [], /-(expected|not-allowed)$/)).toEqual([`error ${said}`])
})

test('the line of what is beside a primitive value that is absent is its own', async () => {
  const { findings } = await validate(ctx, { resource: '{"resourceType":"Patient",\n"_birthDate":1}', places: true })
  expect(findings.map(({ line }) => line)).toEqual([2])
})

test.each([
  ['oid:1.2.3', ['error identifier Patient.identifier[0]']],
  ['uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', ['error identifier Patient.identifier[0]']],
  ['urn:oid:1.2.3', []],
])('a URN without its scheme is not an absolute system: %s', async (system, said) => {
  expect(await findingsOf(patient({ identifier: [{ system, value: 'x' }] }), [], /^identifier/)).toEqual(said)
})

test('the type of a reference is a name, as a URL is one of a logical model', async () => {
  const typed = (type: string): JsonObject => managed({ reference: 'Organization/o', type })
  expect(await findingsOf(typed('http://hl7.org/fhir/StructureDefinition/Organization'), [], /^reference/)).toEqual([`error ${REFERENCE}`])
  expect(await findingsOf(typed('http://a.org/Organization'), [], /^reference/)).toEqual([`error ${REFERENCE}`])
  expect(await findingsOf(typed('Organization'), [], /^reference/)).toEqual([])
})

test('a claim that is not absolute is reported once', async () => {
  expect(await findingsOf(patient({ active: true, meta: { profile: ['Patient'] } }), [], /./)).toEqual([
    'error uri-form Patient.meta.profile[0]',
  ])
})

test.each<readonly [member: string, said: readonly string[]]>([
  [
    'link',
    ['error|invalid empty-object Patient.link[0]', 'error|structure too-few Patient.link[0]', 'error|structure too-few Patient.link[0]'],
  ],
  ['contact', ['error|invalid empty-object Patient.contact[0]', 'error|invariant invariant Patient.contact[0]']],
])('an empty object lacks also what its type needs: %s', async (member, said) => {
  expect(await issuesOf({ resourceType: 'Patient', [member]: [{}] }, [], /^(empty-object|too-few|invariant)$/)).toEqual(said)
})

test('each of two contained resources with the same id needs to be referred to', async () => {
  const contained = ['Patient', 'Patient'].map((resourceType) => ({ resourceType, id: 'a', active: true }))
  expect(await issuesOf({ resourceType: 'Patient', contained }, [], /^contained$/)).toEqual([
    'error|invalid contained Patient.contained[0]',
    'error|duplicate contained Patient.contained[1]',
    'error|invalid contained Patient.contained[1]',
  ])
})

test.each<readonly [members: JsonObject, said: readonly string[]]>([
  [{ status: ['final'] }, ['error array-not-allowed Observation.status', 'error too-few Observation']],
  [{ status: null }, ['error null-not-allowed Observation.status', 'error too-few Observation']],
  [{ status: { a: 1 } }, ['error too-few Observation', 'error empty-object Observation.status']],
  [{ code: 'x' }, ['error too-few Observation', 'error object-expected Observation.code']],
  [{ subject: 'Patient/p' }, ['error object-expected Observation.subject']],
])('a required element that cannot be read from JSON is lacking: %j', async (members, said) => {
  const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...members }
  expect(await findingsOf(observation, [], /^(array|null|empty|object|too)-/)).toEqual(said)
})

test.each<readonly [item: readonly unknown[], said: readonly string[]]>([
  [[{ linkId: '1', type: 'display' }, 'x'], ['error object-expected Questionnaire.item[1]']],
  [['x'], ['error too-few Questionnaire', 'error object-expected Questionnaire.item[0]']],
  [[null], ['error too-few Questionnaire']],
])('items of a list that cannot be read from JSON do not count: %j', async (item, said) => {
  const url = 'http://elements.test/form'
  const profile = profileOn('Questionnaire', url, [{ id: 'Questionnaire.item', path: 'Questionnaire.item', min: 1 }])
  const questionnaire = { resourceType: 'Questionnaire', meta: { profile: [url] }, status: 'draft', item }
  expect(await findingsOf(questionnaire, [profile], /^(object-expected|too-few)$/)).toEqual(said)
})

test.each<readonly [resource: JsonObject, said: readonly string[]]>([
  [
    patient({ contact: { gender: 'x' } }),
    ['error array-expected Patient.contact', 'error invariant Patient.contact[0]', 'error code-not-in-value-set Patient.contact[0].gender'],
  ],
  [{ resourceType: 'OperationOutcome', issue: 'x' }, ['error array-expected OperationOutcome.issue', 'error too-few OperationOutcome']],
  [
    { resourceType: 'OperationOutcome', issue: {} },
    [
      'error array-expected OperationOutcome.issue',
      'error empty-object OperationOutcome.issue[0]',
      'error too-few OperationOutcome.issue[0]',
      'error too-few OperationOutcome.issue[0]',
    ],
  ],
  [patient({ name: { id: 'a' } }), ['error array-expected Patient.name', 'error empty-object Patient.name[0]']],
])('an object instead of a list is checked as its item, and another value is none: %j', async (resource, said) => {
  expect(await findingsOf(resource, [], /^(array-expected|empty-object|too-few|invariant|code-not-in-value-set)$/)).toEqual(said)
})

test.each<readonly [resource: JsonObject, said: readonly string[]]>([
  [patient({ contact: [{ name: {}, gender: 'male' }] }), ['error invariant Patient.contact[0]']],
  [patient({ contact: [{ name: 'x', gender: 'male' }] }), ['error invariant Patient.contact[0]']],
  [patient({ contact: [{ name: { text: 'x' }, gender: 'male' }] }), []],
  [{ resourceType: 'Bundle', type: 'collection', entry: [{ resource: patient({}), request: {} }] }, []],
])('what has no content is not there for invariants: %j', async (resource, said) => {
  expect(await findingsOf(resource, [], /^invariant$/)).toEqual(said)
})

test('a component without content is one of the two that a composite search parameter needs', async () => {
  const component = [{}, { definition: 'http://hl7.org/fhir/SearchParameter/Patient-active', expression: 'active' }]
  const composite = { resourceType: 'SearchParameter', type: 'composite', base: ['Patient'], component }
  expect(await findingsOf(composite, [], /^(empty-object|search-parameter)$/)).toEqual(['error empty-object SearchParameter.component[0]'])
})
