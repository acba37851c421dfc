import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf, issuesOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const LIBRARY = 'http://elements.test/library'
const USE = 'http://elements.test/use'
const library = profileOn('Patient', LIBRARY, [
  { id: 'Patient.contact', path: 'Patient.contact', slicing: { discriminator: [{ type: 'value', path: 'gender' }], rules: 'open' } },
  { id: 'Patient.contact:kin', path: 'Patient.contact', sliceName: 'kin' },
  { id: 'Patient.contact:kin.name', path: 'Patient.contact.name', min: 1 },
  { id: 'Patient.contact:kin.gender', path: 'Patient.contact.gender', fixedCode: 'male' },
])
const element = [{ url: 'http://hl7.org/fhir/StructureDefinition/elementdefinition-profile-element', valueString: 'Patient.contact:kin' }]
const use = profileOn('Patient', USE, [
  {
    id: 'Patient.contact',
    path: 'Patient.contact',
    type: [{ code: 'BackboneElement', profile: [LIBRARY], _profile: [{ extension: element }] }],
  },
])

test.each([
  [{ name: { text: 'Ann' } }, []],
  [{ telecom: [{ value: '1' }] }, ['error too-few Patient.contact[0]']],
])('a type may be one element of a profile, whose rules apply: %j', async (contact, said) => {
  const patient = { resourceType: 'Patient', meta: { profile: [USE] }, contact: [contact] }
  expect(await findingsOf(patient, [library, use], /^(too-few|profile)/)).toEqual(said)
})

const NAMED = profileOn('Patient', 'http://elements.test/named', [{ id: 'Patient.name', path: 'Patient.name', min: 1 }])
const DATED = profileOn('Patient', 'http://elements.test/dated', [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }])
const PROFILES = ['http://elements.test/named', 'http://elements.test/dated']
const held = (type: string, path: string): ReturnType<typeof profileOn> =>
  profileOn(type, USE, [{ id: path, path, type: [{ code: 'Patient', profile: PROFILES }] }])
const SEVERAL = (place: string): readonly string[] => [
  `warning|structure profile-choice ${place}`,
  `information|invalid profile-choice ${place}`,
]

test.each([
  ['Bundle.entry.resource', { type: 'collection', entry: [{ fullUrl: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520' }] }],
  ['Parameters.parameter.resource', { parameter: [{ name: 'p' }] }],
])(
  'a resource in %s may conform to one of several profiles: BUNDLE_BUNDLE_ENTRY_MULTIPLE_PROFILES_MULTIPLE_MATCHES',
  async (path, holder) => {
    const [type = '', member = ''] = path.split('.')
    const holding = (resource: object): JsonObject => ({
      resourceType: type,
      meta: { profile: [USE] },
      ...holder,
      [member]: Object.values(holder).flatMap((list) => (Array.isArray(list) ? list.map((one: object) => ({ ...one, resource })) : [])),
    })
    const said = (resource: object): Promise<readonly string[]> =>
      issuesOf(holding(resource), [held(type, path), NAMED, DATED], /^profile-choice$/)
    const place = `${type}.${member}[0].resource`
    expect(await said({ resourceType: 'Patient', name: [{ text: 'x' }], birthDate: '2000' })).toEqual(SEVERAL(place))
    expect(await said({ resourceType: 'Patient', name: [{ text: 'x' }] })).toEqual([])
    expect(await said({ resourceType: 'Patient' })).toEqual([
      `error|structure profile-choice ${place}`,
      `error|invalid profile-choice ${place}`,
      `information|invalid profile-choice ${place}`,
      `information|invalid profile-choice ${place}`,
    ])
  },
)

test.each<readonly [resource: JsonObject, said: readonly string[]]>([
  [{ resourceType: 'Patient', active: true }, []],
  [{ resourceType: 'Group', type: 'person', actual: true }, []],
  [{ resourceType: 'Observation', status: 'final', code: { text: 'x' } }, ['error|structure profile-choice Bundle.entry[0].resource']],
])('a resource may have one of several types, which profiles name: Bundle_BUNDLE_Entry_Type3: %j', async (resource, said) => {
  const profile = ['Patient', 'Group'].map((name) => `http://hl7.org/fhir/StructureDefinition/${name}`)
  const path = 'Bundle.entry.resource'
  const either = profileOn('Bundle', USE, [{ id: path, path, type: [{ code: 'Resource', profile }] }])
  const entry = [{ fullUrl: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', resource }]
  expect(await issuesOf({ resourceType: 'Bundle', meta: { profile: [USE] }, type: 'collection', entry }, [either], /^profile/)).toEqual(
    said,
  )
})

test.each<readonly [what: string, resource: JsonObject, said: readonly string[]]>([
  ['conforms to one that is known', { resourceType: 'Patient', name: [{ text: 'x' }] }, []],
  ['conforms to none that is known', { resourceType: 'Patient' }, ['error|structure profile-unknown Bundle.entry[0].resource']],
  ['is of another type', { resourceType: 'Basic', code: {} }, ['error|structure profile-unknown Bundle.entry[0].resource']],
])('one of several profiles that a resource may have is not known, and it %s', async (_, resource, said) => {
  const path = 'Bundle.entry.resource'
  const choice = profileOn('Bundle', USE, [
    { id: path, path, type: [{ code: 'Resource', profile: [PROFILES[0], 'http://elements.test/none'] }] },
  ])
  const entry = [{ fullUrl: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', resource }]
  const bundle = { resourceType: 'Bundle', meta: { profile: [USE] }, type: 'collection', entry }
  expect(await issuesOf(bundle, [choice, NAMED], /^profile/)).toEqual(said)
})

test('of several extensions that an element may have one is not known: only the rule of extensions speaks of it', async () => {
  const path = 'Patient.extension'
  const choice = profileOn('Patient', USE, [
    {
      id: path,
      path,
      type: [{ code: 'Extension', profile: ['http://hl7.org/fhir/StructureDefinition/patient-birthPlace', 'http://elements.test/none'] }],
    },
  ])
  const patient = { resourceType: 'Patient', meta: { profile: [USE] }, extension: [{ url: 'http://elements.test/none', valueString: 'x' }] }
  expect(await issuesOf(patient, [choice], /^profile/)).toEqual([])
})

const UNUSABLE = 'error definition-snapshot Patient'
test.each<readonly [path: string, said: readonly string[]]>([
  ['Patient.nome', [UNUSABLE]],
  ['Patient.name.famly', [UNUSABLE]],
  ['Patient.contact.name.period.begin', [UNUSABLE]],
  ['Patient.deceasedString', [UNUSABLE]],
  ['Patient.deceasedBoolean', []],
  ['Patient.deceased[x]', []],
  ['Patient.extension.value[x].coding', []],
  ['Patient.contained.name', []],
  ['Patient.birthDate.value', []],
])('a profile that speaks of %s, and is used', async (path, said) => {
  const profile = profileOn('Patient', USE, [{ path: 'Patient' }, { path }])
  const derived = { ...profileOn('Patient', `${USE}/derived`, [{ path: 'Patient.name' }]), baseDefinition: USE }
  const patient = { resourceType: 'Patient' }
  for (const used of [USE, `${USE}/derived`])
    expect(await findingsOf({ ...patient, meta: { profile: [used] } }, [profile, derived], /^(definition|too-)/)).toEqual(said)
})

test.each<readonly [what: string, types: readonly JsonObject[], said: readonly string[]]>([
  ['each with a profile', [{ profile: [PROFILES[0]] }, { profile: [PROFILES[1]] }], []],
  ['of which one has none', [{ profile: [PROFILES[1]] }, {}], []],
  ['of another profile', [{ profile: [PROFILES[1]] }], ['error too-few Bundle.entry[0].resource']],
])('several types of one code are alternatives: %s', async (_, types, said) => {
  const type = types.map((one) => ({ code: 'Patient', ...one }))
  const definition = profileOn('Bundle', USE, [{ id: 'Bundle.entry.resource', path: 'Bundle.entry.resource', type }])
  const resource = { resourceType: 'Patient', id: 'p', name: [{ text: 'x' }] }
  const bundle = {
    resourceType: 'Bundle',
    meta: { profile: [USE] },
    type: 'collection',
    entry: [{ fullUrl: 'http://a.org/Patient/p', resource }],
  }
  expect(await findingsOf(bundle, [definition, NAMED, DATED], /^(too-few|profile)/)).toEqual(said)
})
