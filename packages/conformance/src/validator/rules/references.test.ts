import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf, validated } from './findings-of.js'
import { profileOn } from './profile-on.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition/'
const PROFILE = 'http://references.test/encounter'
const HOST = 'http://a.org/fhir/'

const aggregated = (aggregation: readonly string[]): JsonObject =>
  profileOn('Encounter', PROFILE, [
    { path: 'Encounter.subject', type: [{ code: 'Reference', targetProfile: [`${BASE}Patient`], aggregation }] },
  ])
const encounter = (reference: string, members: JsonObject = {}): JsonObject => ({
  resourceType: 'Encounter',
  id: 'e',
  meta: { profile: [PROFILE] },
  status: 'planned',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: { reference },
  ...members,
})
const patient: JsonObject = { resourceType: 'Patient', id: 'p' }
const contained = { contained: [patient] }
const bundled = (reference: string, target: JsonObject = patient): JsonObject => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: [
    { fullUrl: `${HOST}Encounter/e`, resource: encounter(reference) },
    { fullUrl: `${HOST}Patient/p`, resource: target },
  ],
})
const IN_BUNDLE = 'error reference Bundle.entry[0].resource.subject'

test.each<readonly [where: string, aggregation: readonly string[], resource: JsonObject, said: readonly string[]]>([
  ['in the Bundle', ['bundled'], bundled('Patient/p'), []],
  ['in the Bundle', ['referenced'], bundled('Patient/p'), []],
  ['in the Bundle', ['contained'], bundled('Patient/p'), [IN_BUNDLE]],
  ['not in the Bundle', ['bundled'], bundled('Patient/q'), [IN_BUNDLE]],
  ['not in the Bundle', ['bundled', 'referenced'], bundled('Patient/q'), []],
  ['contained', ['contained'], encounter('#p', contained), []],
  ['contained', ['bundled'], encounter('#p', contained), ['error reference Encounter.subject']],
  ['elsewhere, where there is no Bundle', ['bundled'], encounter('Patient/p'), ['error reference Encounter.subject']],
  ['elsewhere, where there is no Bundle', ['contained'], encounter('Patient/p'), ['error reference Encounter.subject']],
  ['elsewhere, where there is no Bundle', ['contained', 'referenced'], encounter('Patient/p'), []],
])('a target that is %s, where it must be %j', async (_, aggregation, resource, said) => {
  expect(await findingsOf(resource, [aggregated(aggregation)], /^reference/)).toEqual(said)
})

test('a reference to what has errors is noted, also when they come later', async () => {
  const bad = bundled('Patient/p', { ...patient, gender: 'x' })
  expect(await findingsOf(bad, [], /^reference/)).toEqual(['information reference-target Bundle.entry[0].resource.subject'])
})

test('a reference to what has no errors, or to any resource, is not noted', async () => {
  const basic = { resourceType: 'Basic', code: { text: 'x' }, subject: { reference: '#p' }, contained: [{ ...patient, gender: 'x' }] }
  expect(await findingsOf(basic, [], /^reference/)).toEqual([])
  expect(await findingsOf(encounter('#p', contained), [], /^reference/)).toEqual([])
})

test.each([
  ['Patient/p', 'Patient', []],
  ['Patient/p', 'Group', ['error reference Encounter.subject']],
  ['Patient/a_b', 'Group', ['error reference Encounter.subject']],
  ['http://a.org/fhir/Patient/p#name', 'Group', ['error reference Encounter.subject']],
  ['Patient/p', '', []],
])('a reference to %s that is stated as %j', async (reference, type, said) => {
  const resource = encounter(reference, { meta: undefined, subject: { reference, type } })
  expect(await findingsOf(resource, [], /^reference/)).toEqual(said)
})

test.each([
  ['4.0.1', []],
  ['4.0', []],
  ['5.0.0', ['error reference Encounter.subject']],
])('a target that must be a Patient of release %s, and is contained', async (version, said) => {
  const type = [{ code: 'Reference', targetProfile: [`http://hl7.org/fhir/StructureDefinition/Patient|${version}`] }]
  const profile = profileOn('Encounter', 'http://references.test/pinned', [{ path: 'Encounter.subject', type }])
  const pinned = { ...encounter('#p', contained), meta: { profile: ['http://references.test/pinned'] } }
  expect(await findingsOf(pinned, [profile], /^reference/)).toEqual(said)
})

test.each<readonly [what: string, targets: readonly string[], resource: JsonObject, said: readonly string[]]>([
  ['is not known, and the target is contained', ['nobody'], encounter('#p', contained), ['error reference Encounter.subject']],
  ['is not known, and the target is in the Bundle', ['nobody'], bundled('Patient/p'), [IN_BUNDLE]],
  ['is not known, and the target is elsewhere', ['nobody'], encounter('Patient/p'), []],
  ['is one of two, of which one is not known', ['nobody', 'Patient'], encounter('#p', contained), ['error reference Encounter.subject']],
  ['is known', ['Patient'], encounter('#p', contained), []],
])('a reference whose target profile %s', async (_, targets, resource, said) => {
  const targetProfile = targets.map((name) => BASE + name)
  const profile = profileOn('Encounter', PROFILE, [{ path: 'Encounter.subject', type: [{ code: 'Reference', targetProfile }] }])
  expect(await findingsOf(resource, [profile], /^reference/)).toEqual(said)
})

test.each<readonly [reference: string, type: string, said: readonly string[]]>([
  ['Patient/ID', 'Group', ['error bundle-reference-missing Bundle.entry[0].resource.subject']],
  ['Group/ID', 'Group', ['warning bundle-reference-open Bundle.entry[0].resource.subject']],
  ['urn:uuid:ID', 'Patient', []],
])('%s among URNs, whose entry is a %s', async (reference, type, said) => {
  const ids = ['a', 'b'].map((digit) => `1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c1${digit}`)
  const target = { resourceType: type, id: ids[1], ...(type === 'Group' && { type: 'person', actual: true }) }
  const entry = [encounter(reference.replace('ID', ids[1] ?? '')), target].map((resource, index) => ({
    fullUrl: `urn:uuid:${ids[index]}`,
    resource,
  }))
  expect(await findingsOf({ resourceType: 'Bundle', type: 'collection', entry }, [], /^bundle-reference/)).toEqual(said)
})

test.each<readonly [what: string, canonical: string, said: readonly string[]]>([
  ['a ValueSet', 'http://hl7.org/fhir/ValueSet/administrative-gender', []],
  ['a CodeSystem', 'http://hl7.org/fhir/administrative-gender', ['error canonical-type Questionnaire.item[0].answerValueSet']],
  ['a part of a profile, which may contain one', 'http://hl7.org/fhir/StructureDefinition/Patient#vs', []],
  ['nothing that is known', 'http://a.org/nothing', []],
])('a canonical of a ValueSet that leads to %s', async (_, answerValueSet, said) => {
  const item = [{ linkId: '1', type: 'choice', answerValueSet }]
  expect(await findingsOf({ resourceType: 'Questionnaire', status: 'draft', item }, [], /^canonical/)).toEqual(said)
})

test.each<readonly [what: string, contained: JsonObject, said: readonly string[]]>([
  ['a form', { resourceType: 'Questionnaire', status: 'draft' }, []],
  ['a value set', { resourceType: 'ValueSet', status: 'draft' }, ['error canonical-type QuestionnaireResponse.questionnaire']],
])('a canonical of a contained form that leads to %s: REFERENCE_REF_WRONGTARGET_LOAD', async (_, contained, said) => {
  const response = {
    resourceType: 'QuestionnaireResponse',
    status: 'completed',
    contained: [{ ...contained, id: 'c' }],
    questionnaire: '#c',
  }
  expect(await findingsOf(response, [], /^canonical/)).toEqual(said)
})

test('a reference that several target profiles fit is noted', async () => {
  const named = (name: string, path: string): JsonObject => profileOn('Patient', `http://references.test/${name}`, [{ path, min: 1 }])
  const targetProfile = ['http://references.test/a', 'http://references.test/b']
  const profile = profileOn('Encounter', PROFILE, [{ path: 'Encounter.subject', type: [{ code: 'Reference', targetProfile }] }])
  const definitions = [profile, named('a', 'Patient.gender'), named('b', 'Patient.birthDate')]
  const to = (members: JsonObject): JsonObject => encounter('#p', { contained: [{ ...patient, ...members }] })
  expect(await findingsOf(to({ gender: 'male' }), definitions, /^reference/)).toEqual([])
  expect(await findingsOf(to({ gender: 'male', birthDate: '2020' }), definitions, /^reference/)).toEqual([
    'warning reference Encounter.subject',
  ])
})

test.each([
  [
    patient,
    "Unable to find a profile match for '#p' among choices: http://references.test/a. By http://references.test/a, at Encounter.contained[0]: ",
  ],
  [
    { resourceType: 'Group', id: 'p', type: 'person', actual: true },
    "The target of the reference '#p' is of type Group, which is not a valid target; valid targets: http://references.test/a.",
  ],
])('why a target is not allowed is said: %j', async (target, text) => {
  const targetProfile = ['http://references.test/a']
  const profile = profileOn('Encounter', PROFILE, [{ path: 'Encounter.subject', type: [{ code: 'Reference', targetProfile }] }])
  const named = profileOn('Patient', 'http://references.test/a', [{ path: 'Patient.gender', min: 1 }])
  const { findings } = await validated(encounter('#p', { contained: [target] }), [profile, named])
  expect(findings.find(({ kind }) => kind === 'reference')?.text.slice(0, text.length)).toBe(text)
})

test.each([
  [undefined, ['warning bundle-reference-open Bundle.entry[0].resource.subject']],
  ['1', []],
])('a reference to a version of an entry of the version %s', async (versionId, said) => {
  const target = { ...patient, ...(versionId !== undefined && { meta: { versionId } }) }
  expect(await findingsOf(bundled('Patient/p/_history/1', target), [], /^bundle-reference/)).toEqual(said)
})

test.each([
  ['http://hl7.org/fhir/sid/icpc2', ['warning uri-incorrect Patient.identifier[0].system']],
  ['http://hl7.org/fhir/sid/us-ssn', []],
])('the system %s', async (system, said) => {
  expect(await findingsOf({ resourceType: 'Patient', identifier: [{ system, value: '1' }] }, [], /^uri-/)).toEqual(said)
})

test.each([
  ['http://hl7.org/fhir/4.0/StructureDefinition/Patient', 'information'],
  ['http://hl7.org/fhir/4.0/StructureDefinition/Nonsense', 'error'],
  ['http://hl7.org/fhir/5.0/StructureDefinition/Patient', 'information'],
])('the claim of %s', async (profile, severity) => {
  expect(await findingsOf({ resourceType: 'Patient', meta: { profile: [profile] } }, [], /^profile-/)).toEqual([
    `${severity} profile-other-version Patient.meta.profile[0]`,
  ])
})

test('what has errors obeys no profile that its reference asks for: Reference_REF_CantMatchChoice', async () => {
  const url = 'http://references.test/organization'
  const called = profileOn('Organization', url, [{ path: 'Organization.telecom', min: 1 }])
  const referring = profileOn('Patient', 'http://references.test/patient', [
    { path: 'Patient.managingOrganization', type: [{ code: 'Reference', targetProfile: [url] }] },
  ])
  const withOrganization = (members: JsonObject): JsonObject => ({
    resourceType: 'Patient',
    meta: { profile: ['http://references.test/patient'] },
    contained: [{ resourceType: 'Organization', id: 'o', telecom: [{ system: 'phone', value: '1' }], ...members }],
    managingOrganization: { reference: '#o' },
  })
  const said = async (members: JsonObject): Promise<readonly string[]> =>
    findingsOf(withOrganization(members), [called, referring], /^reference/)
  expect(await said({ name: 'x' })).toEqual([])
  expect(await said({})).toEqual([
    'error reference Patient.managingOrganization',
    'information reference-target Patient.managingOrganization',
  ])
})

test('`#` is the container of a contained resource, and elsewhere leads to nothing', async () => {
  const observation: JsonObject = { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' } }
  const list = { resourceType: 'List', id: 'l', status: 'current', mode: 'working', entry: [{ item: { reference: '#' } }] }
  const found = (resource: JsonObject): Promise<readonly string[]> => findingsOf(resource, [], /^reference$/)
  expect(await found({ ...observation, hasMember: [{ reference: '#' }] })).toEqual(['error reference Observation.hasMember[0]'])
  expect(await found({ ...observation, focus: [{ reference: '#l' }], contained: [list] })).toEqual([])
})

test.each([
  [{}, ['warning reference Encounter.subject']],
  [{ reference: '' }, ['warning reference Encounter.subject']],
  [{ display: 'someone' }, []],
])('a Reference without reference and identifier has a display: %j', async (subject, said) => {
  expect(await findingsOf(encounter('', { meta: undefined, subject }), [], /^reference/)).toEqual(said)
})
