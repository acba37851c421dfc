import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition/'
const LOCAL = 'http://slices.test/'

function profile(name: string, type: string, element: readonly JsonObject[]): JsonObject {
  return {
    resourceType: 'StructureDefinition',
    url: LOCAL + name,
    name,
    status: 'active',
    kind: 'resource',
    abstract: false,
    type,
    baseDefinition: BASE + type,
    derivation: 'constraint',
    differential: { element },
  }
}

const slicing = (type: string, path: string): JsonObject => ({ discriminator: [{ type, path }], rules: 'closed' })
const KINDS = /^(slice|too-few|reference|value-fixed)/

test.each<readonly [what: string, uses: readonly string[], said: readonly string[]]>([
  ['nothing', [], ['error too-few Patient']],
  ['an item of the outer slice only', ['usual'], ['error too-few Patient']],
  ['an item of the inner slice', ['official'], []],
])('a slice of a slice is required, whether there is %s: Validation_VAL_Profile_Minimum_SLICE', async (_, uses, said) => {
  const discriminated = (path: string): JsonObject => ({ discriminator: [{ type: 'value', path }], rules: 'open' })
  const resliced = profile('resliced', 'Patient', [
    { id: 'Patient.identifier', path: 'Patient.identifier', slicing: discriminated('system') },
    { id: 'Patient.identifier:a', path: 'Patient.identifier', sliceName: 'a', slicing: discriminated('use') },
    { id: 'Patient.identifier:a.system', path: 'Patient.identifier.system', min: 1, fixedUri: 'http://a.test' },
    { id: 'Patient.identifier:a/x', path: 'Patient.identifier', sliceName: 'a/x', min: 1 },
    { id: 'Patient.identifier:a/x.use', path: 'Patient.identifier.use', min: 1, fixedCode: 'official' },
  ])
  const identifier = uses.map((use) => ({ system: 'http://a.test', use, value: '1' }))
  const patient = { resourceType: 'Patient', meta: { profile: [`${LOCAL}resliced`] }, ...(uses.length > 0 && { identifier }) }
  expect(await findingsOf(patient, [resliced], /^too-few/)).toEqual(said)
})

test('a reference is in the slice of the profile that its target obeys', async () => {
  const coded = (name: string): JsonObject => profile(name, 'Basic', [{ path: 'Basic.code.text', min: 1, fixedString: name }])
  const slice = (name: string): JsonObject => ({ path: 'List.entry', sliceName: name, min: 1, max: '1' })
  const item = (name: string): JsonObject => ({ path: 'List.entry.item', type: [{ code: 'Reference', targetProfile: [LOCAL + name] }] })
  const list = profile('list', 'List', [
    { path: 'List.entry', slicing: slicing('profile', 'item.resolve()') },
    slice('red'),
    item('red'),
    slice('blue'),
    item('blue'),
  ])
  const resource = (...texts: readonly string[]): JsonObject => ({
    resourceType: 'List',
    meta: { profile: [`${LOCAL}list`] },
    status: 'current',
    mode: 'working',
    contained: texts.map((text, index) => ({ resourceType: 'Basic', id: `c${index}`, code: { text } })),
    entry: texts.map((_, index) => ({ item: { reference: `#c${index}` } })),
  })
  const definitions = [list, coded('red'), coded('blue')]
  expect(await findingsOf(resource('red', 'blue'), definitions, KINDS)).toEqual([])
  expect(await findingsOf(resource('red', 'green'), definitions, KINDS)).toEqual(['error too-few List', 'error slice-closed List.entry[1]'])
})

test('a value in the fixed value of the whole tells the slice, and what is more in the element is an error', async () => {
  const definition = profile('telecom', 'Patient', [
    { path: 'Patient.telecom', slicing: slicing('value', 'use') },
    { path: 'Patient.telecom', sliceName: 'home', min: 1, fixedContactPoint: { use: 'home', system: 'phone' } },
  ])
  const patient = (telecom: JsonObject): JsonObject => ({
    resourceType: 'Patient',
    meta: { profile: [`${LOCAL}telecom`] },
    telecom: [telecom],
  })
  expect(await findingsOf(patient({ use: 'home', system: 'phone' }), [definition], KINDS)).toEqual([])
  expect(await findingsOf(patient({ use: 'home', system: 'phone', rank: 1 }), [definition], KINDS)).toEqual([
    'error value-fixed Patient.telecom[0].rank',
  ])
})

test('a slice by codes of a value set that is not known is not missed', async () => {
  const definition = (valueSet: string): JsonObject =>
    profile('category', 'Basic', [
      { path: 'Basic.identifier', slicing: { ...slicing('value', 'type'), rules: 'open' } },
      { path: 'Basic.identifier', sliceName: 'known', min: 1 },
      { path: 'Basic.identifier.type', min: 1, binding: { strength: 'required', valueSet } },
    ])
  const resource = {
    resourceType: 'Basic',
    meta: { profile: [`${LOCAL}category`] },
    identifier: [{ type: { text: 'x' }, value: 'x' }],
    code: { text: 'x' },
  }
  expect(await findingsOf(resource, [definition(`${LOCAL}nothing`)], KINDS)).toEqual(['information slice-unmatched Basic.identifier[0]'])
  expect(await findingsOf(resource, [definition('http://hl7.org/fhir/ValueSet/identifier-type')], KINDS)).toContain('error too-few Basic')
})

test('what a profile adds to the slices of the one that it builds on is one slicing with them', async () => {
  const slice = (name: string): JsonObject[] => [
    { path: 'Patient.telecom', sliceName: name, max: '1' },
    { path: 'Patient.telecom.system', min: 1, fixedCode: name },
  ]
  const base = (rules: string): JsonObject =>
    profile('base', 'Patient', [{ path: 'Patient.telecom', slicing: { ...slicing('value', 'system'), rules } }, ...slice('phone')])
  const derived = { ...profile('derived', 'Patient', slice('email')), baseDefinition: `${LOCAL}base` }
  const patient = {
    resourceType: 'Patient',
    meta: { profile: [`${LOCAL}derived`] },
    telecom: [{ system: 'phone' }, { system: 'email' }, { system: 'fax' }],
  }
  expect(await findingsOf(patient, [base('open'), derived], KINDS)).toEqual(['information slice-unmatched Patient.telecom[2]'])
  expect(await findingsOf(patient, [base('closed'), derived], KINDS)).toEqual(['error slice-closed Patient.telecom[2]'])
})

test('a resource is of a type that the profile allows in its place', async () => {
  const definition = profile('container', 'Patient', [{ path: 'Patient.contained', type: [{ code: 'Organization' }] }])
  const patient = (type: string): JsonObject => ({
    resourceType: 'Patient',
    meta: { profile: [`${LOCAL}container`] },
    contained: [{ resourceType: type, id: 'c', name: 'x' }],
    managingOrganization: { reference: '#c' },
  })
  expect(await findingsOf(patient('Organization'), [definition], /^type-not/)).toEqual([])
  expect(await findingsOf(patient('Group'), [definition], /^type-not/)).toEqual(['error type-not-allowed Patient.contained[0]'])
})

test.each([
  ['nothing', `${LOCAL}nowhere`],
  ['itself', `${LOCAL}broken`],
])('a profile that builds on %s cannot be used', async (_, baseDefinition) => {
  const definition = { ...profile('broken', 'Patient', [{ path: 'Patient.name', min: 1 }]), baseDefinition }
  const patient = { resourceType: 'Patient', meta: { profile: [`${LOCAL}broken`] } }
  expect(await findingsOf(patient, [definition], /^(definition-|too-few)/)).toEqual(['error definition-snapshot Patient'])
})

test('a profile with neither snapshot nor differential cannot be used, whatever names it; the rest is validated', async () => {
  const empty = (name: string, type: string): JsonObject => {
    const { differential: _, ...rest } = profile(name, type, [])
    return rest
  }
  const definitions = [
    empty('empty', 'Patient'),
    empty('empty-name', 'HumanName'),
    empty('empty-extension', 'Extension'),
    { ...profile('derived', 'Patient', [{ path: 'Patient.name', min: 1 }]), baseDefinition: `${LOCAL}empty` },
    profile('named', 'Patient', [{ path: 'Patient.name', type: [{ code: 'HumanName', profile: [`${LOCAL}empty-name`] }] }]),
  ]
  const said = (members: JsonObject, name?: string): Promise<readonly string[]> => {
    const meta = name === undefined ? {} : { meta: { profile: [LOCAL + name] } }
    return findingsOf({ resourceType: 'Patient', ...meta, ...members, gender: 'x' }, definitions, /^(definition-|too-few|code-not-in)/)
  }
  const gender = 'error code-not-in-value-set Patient.gender'
  expect(await said({}, 'empty')).toEqual(['error definition-snapshot Patient', gender])
  expect(await said({}, 'derived')).toEqual(['error definition-snapshot Patient', gender])
  expect(await said({ name: [{ text: 'x' }] }, 'named')).toEqual(['error definition-snapshot Patient.name[0]', gender])
  expect(await said({ extension: [{ url: `${LOCAL}empty-extension`, valueString: 'x' }] })).toEqual([
    'error definition-snapshot Patient.extension[0]',
    gender,
  ])
})

test.each<readonly [discriminator: JsonObject, element: JsonObject | undefined, said: readonly string[]]>([
  [{ type: 'exists', path: 'period' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'exists', path: 'period' }, { path: 'Patient.name.period', min: 1 }, ['information slice-unmatched Patient.name[0]']],
  [{ type: 'exists', path: 'period' }, { path: 'Patient.name.period', max: '0' }, []],
  [{ type: 'value', path: 'nonsense' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'value', path: 'period.start' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'exists', path: 'period.start' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'value', path: 'period.start' }, { path: 'Patient.name.period.end', min: 1 }, ['error slicing-unsound Patient.name[0]']],
  [
    { type: 'value', path: 'period.start' },
    { path: 'Patient.name.period', patternPeriod: { start: '2020' } },
    ['information slice-unmatched Patient.name[0]'],
  ],
  [{ type: 'value', path: 'resolve()' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'exists', path: '$this' }, undefined, ['error slicing-unsound Patient.name[0]']],
  [{ type: 'value', path: 'use' }, undefined, []],
  [{ type: 'type', path: 'text' }, undefined, []],
  [{ type: 'type', path: 'period' }, undefined, ['information slice-unmatched Patient.name[0]']],
  [{ type: 'profile', path: 'period' }, undefined, []],
  [
    { type: 'value', path: 'period.start' },
    { path: 'Patient.name.period.start', fixedDateTime: '2020' },
    ['information slice-unmatched Patient.name[0]'],
  ],
])('a slice by %j with %j', async (discriminator, element, said) => {
  const profile = profileOn('Patient', 'http://slices.test/unsound', [
    { path: 'Patient.name', slicing: { discriminator: [discriminator], rules: 'open' } },
    { path: 'Patient.name', sliceName: 'a' },
    ...(element === undefined ? [] : [element]),
  ])
  const patient = { resourceType: 'Patient', meta: { profile: ['http://slices.test/unsound'] }, name: [{ use: 'official', text: 'x' }] }
  expect(await findingsOf(patient, [profile], /^slic/)).toEqual(said)
})

test.each<readonly [path: string, discriminator: JsonObject, said: readonly string[]]>([
  ['Patient.link', { type: 'exists', path: 'other' }, []],
  ['Patient.link', { type: 'value', path: 'type' }, []],
  ['Patient.link', { type: 'type', path: 'other.resolve()' }, ['error slicing-unsound Patient.link[0]']],
  ['Patient.identifier', { type: 'value', path: 'type' }, ['error slicing-unsound Patient.identifier[0]']],
  ['Patient.identifier', { type: 'type', path: 'assigner.resolve()' }, ['information slice-unmatched Patient.identifier[0]']],
  ['Patient.identifier', { type: 'type', path: 'type.resolve()' }, ['error slicing-unsound Patient.identifier[0]']],
])('a slice of %s by %j takes what the type of the element says, or cannot be evaluated', async (path, discriminator, said) => {
  const profile = profileOn('Patient', 'http://slices.test/general', [
    { path, slicing: { discriminator: [discriminator], rules: 'open' } },
    { path, sliceName: 'a' },
  ])
  const patient = {
    resourceType: 'Patient',
    meta: { profile: ['http://slices.test/general'] },
    identifier: [{ value: 'x' }],
    link: [{ other: { display: 'x' }, type: 'seealso' }],
  }
  expect(await findingsOf(patient, [profile], /^slic/)).toEqual(said)
})

test('a slice may tell its values by some of the discriminators only', async () => {
  const slicing = { discriminator: ['type', 'assigner'].map((path) => ({ type: 'value', path })), rules: 'open' }
  const profile = profileOn('Patient', 'http://slices.test/some', [
    { path: 'Patient.identifier', slicing },
    { path: 'Patient.identifier', sliceName: 'a' },
    { path: 'Patient.identifier.type', patternCodeableConcept: { text: 'x' } },
  ])
  const patient = { resourceType: 'Patient', meta: { profile: ['http://slices.test/some'] }, identifier: [{ type: { text: 'x' } }] }
  expect(await findingsOf(patient, [profile], /^slic/)).toEqual([])
})

test.each<readonly [what: string, members: JsonObject]>([
  ['with a path of another type', { differential: { element: [{ path: 'Observation.code', min: 1 }] } }],
  ['with a path that begins with no type', { differential: { element: [{ path: 'patient.name', min: 1 }] } }],
  ['with an element without path', { differential: { element: [{ id: 'Patient.name', min: 1 }] } }],
  ['with a choice that is not marked as one', { differential: { element: [{ path: 'Patient.deceased', short: 'x' }] } }],
  ['on another type than that of its base', { baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation' }],
  ['that names no base', { baseDefinition: undefined }],
])('a profile %s cannot be used', async (_, members) => {
  const definition = { ...profile('odd', 'Patient', [{ path: 'Patient.birthDate', short: 'x' }]), ...members }
  const resource = { resourceType: 'Patient', meta: { profile: [`${LOCAL}odd`] }, name: [{ text: 'x' }] }
  expect(await findingsOf(resource, [definition], /^(definition-|too-few)/)).toEqual(['error definition-snapshot Patient'])
})

test('a profile on a resource may be derived from that of all resources with narratives', async () => {
  const definition = { ...profile('general', 'Patient', [{ path: 'Patient.name', min: 1 }]), baseDefinition: `${LOCAL}any` }
  const any = { ...profile('any', 'DomainResource', [{ path: 'DomainResource.text', min: 1 }]) }
  const resource = { resourceType: 'Patient', meta: { profile: [`${LOCAL}general`] } }
  expect(await findingsOf(resource, [definition, any], /^(definition-|too-few)/)).toEqual([
    'error too-few Patient',
    'error too-few Patient',
  ])
})

test('a slice that says nothing of types has all that the element has', async () => {
  const definition = profile('typed', 'Patient', [
    { path: 'Patient.identifier', slicing: slicing('type', '$this') },
    { path: 'Patient.identifier', sliceName: 'any' },
  ])
  const resource = { resourceType: 'Patient', meta: { profile: [`${LOCAL}typed`] }, identifier: [{ value: 'x' }] }
  expect(await findingsOf(resource, [definition], KINDS)).toEqual([])
})

test.each<readonly [what: string, elements: readonly JsonObject[], said: readonly string[]]>([
  [
    'that is required',
    [{ path: 'Observation.valueQuantity', min: 1 }],
    ['error too-few Observation', 'error slice-closed Observation.value.ofType(string)'],
  ],
  [
    'that is required in an open slicing',
    [
      { path: 'Observation.value[x]', slicing: { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' } },
      { path: 'Observation.value[x]', sliceName: 'valueQuantity', min: 1, type: [{ code: 'Quantity' }] },
    ],
    ['error too-few Observation', 'error slice-closed Observation.value.ofType(string)'],
  ],
])('a value of another type beside one %s', async (_, elements, said) => {
  const resource = {
    resourceType: 'Observation',
    meta: { profile: [`${LOCAL}chosen`] },
    status: 'final',
    code: { text: 'x' },
    valueString: 'x',
  }
  expect(await findingsOf(resource, [profile('chosen', 'Observation', elements)], KINDS)).toEqual(said)
})

const byType = { discriminator: [{ type: 'type', path: '$this' }], rules: 'open' }
const quantity = { path: 'Observation.value[x]', sliceName: 'valueQuantity', type: [{ code: 'Quantity' }] }
const observation = (value: JsonObject): JsonObject => ({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...value })

test.each<[string, readonly JsonObject[], readonly string[]]>([
  ['is all that a short path leaves', [{ path: 'Observation.valueQuantity' }], ['error slice-closed Observation.value.ofType(string)']],
  ['is all that a slice without slicing leaves', [quantity], ['error slice-closed Observation.value.ofType(string)']],
  [
    'is one of those that short paths leave',
    [{ path: 'Observation.valueQuantity' }, { path: 'Observation.valueCodeableConcept' }],
    ['error type-not-allowed Observation'],
  ],
  ['may be one of several that short paths name', [{ path: 'Observation.valueQuantity' }, { path: 'Observation.valueString' }], []],
  [
    'is noted where the slicing is open',
    [{ path: 'Observation.value[x]', slicing: byType }, quantity],
    ['information slice-unmatched Observation.value.ofType(string)'],
  ],
  [
    'is noted where the profile says something of the choice',
    [{ path: 'Observation.value[x]', short: 'Amount' }, { path: 'Observation.valueQuantity' }],
    ['information slice-unmatched Observation.value.ofType(string)'],
  ],
  ['may be any where only what is inside is stated', [{ path: 'Observation.valueQuantity.unit', min: 1 }], []],
  [
    'may be any but the one that is forbidden',
    [{ path: 'Observation.valueBoolean', max: '0' }],
    ['information slice-unmatched Observation.value.ofType(string)'],
  ],
])('the type of a choice %s', async (_, element, expected) => {
  const definition = profile('choice', 'Observation', element)
  const resource = { ...observation({ valueString: 'x' }), meta: { profile: [`${LOCAL}choice`] } }
  expect(await findingsOf(resource, [definition], /^(slice|type-not-allowed|too-many)/)).toEqual(expected)
})

const ofItself = (type: string): JsonObject => ({ discriminator: [{ type, path: '$this' }], rules: 'open' })
const FORBIDDEN = ['error too-many Patient']

test.each<readonly [what: string, slicing: JsonObject, slice: JsonObject, said: readonly string[]]>([
  ['a pattern', ofItself('pattern'), { patternIdentifier: { system: 'http://a.test' } }, FORBIDDEN],
  ['another pattern', ofItself('pattern'), { patternIdentifier: { system: 'http://b.test' } }, []],
  ['a value', ofItself('value'), { fixedIdentifier: { system: 'http://a.test' } }, FORBIDDEN],
  ['a profile', ofItself('profile'), { type: [{ code: 'Identifier', profile: [`${LOCAL}of-a`] }] }, FORBIDDEN],
  [
    'a value that the pattern of the whole implies',
    { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' },
    { patternIdentifier: { system: 'http://a.test' } },
    FORBIDDEN,
  ],
])('a slice that must be empty forbids what has %s', async (_, sliced, slice, said) => {
  const definition = profile('forbidding', 'Patient', [
    { path: 'Patient.identifier', slicing: sliced },
    { path: 'Patient.identifier', sliceName: 'a', max: '0', ...slice },
  ])
  const system = { path: 'Identifier.system', min: 1, fixedUri: 'http://a.test' }
  const ofA = { ...profile('of-a', 'Identifier', [system]), kind: 'complex-type' }
  const patient = { resourceType: 'Patient', meta: { profile: [`${LOCAL}forbidding`] }, identifier: [{ system: 'http://a.test' }] }
  expect(await findingsOf(patient, [definition, ofA], /^too-many/)).toEqual(said)
})

test.each<readonly [what: string, element: readonly JsonObject[], said: readonly string[]]>([
  ['by a short path', [{ path: 'Observation.valueString', max: '0' }], ['error too-many Observation']],
  [
    'by the only type that remains',
    [
      { path: 'Observation.value[x]', type: [{ code: 'string' }] },
      { path: 'Observation.valueString', max: '0' },
    ],
    ['error too-many Observation'],
  ],
  [
    'by a slice',
    [
      { path: 'Observation.value[x]', slicing: ofItself('type') },
      { path: 'Observation.value[x]', sliceName: 'valueString', type: [{ code: 'string' }], max: '0' },
    ],
    ['error too-many Observation'],
  ],
  ['for another type', [{ path: 'Observation.valueQuantity', max: '0' }], []],
])('a type of a choice is forbidden %s', async (_, element, said) => {
  const resource = { ...observation({ valueString: 'x' }), meta: { profile: [`${LOCAL}choice`] } }
  expect(await findingsOf(resource, [profile('choice', 'Observation', element)], /^too-many/)).toEqual(said)
})

test('that a slice must be empty does not say what would be in it', async () => {
  const definition = profile('forbidding', 'Patient', [
    { path: 'Patient.identifier', slicing: { discriminator: [{ type: 'value', path: 'system' }], rules: 'open' } },
    { path: 'Patient.identifier', sliceName: 'a', max: '0' },
  ])
  const patient = { resourceType: 'Patient', meta: { profile: [`${LOCAL}forbidding`] }, identifier: [{ system: 'http://a.test' }] }
  expect(await findingsOf(patient, [definition], /^(slic|too-many)/)).toEqual(['error slicing-unsound Patient.identifier[0]'])
})
