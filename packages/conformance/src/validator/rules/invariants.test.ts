import { createContext, forRequest } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const ctx = createContext({ storage: memoryStorage(), ...r4() })
const PROFILE = 'http://invariants.test/p'

test.each([
  ["gender.memberOf('http://hl7.org/fhir/ValueSet/administrative-gender')", true],
  ["gender.memberOf('http://hl7.org/fhir/ValueSet/item-type')", false],
  ["gender.memberOf('http://invariants.test/nowhere')", true],
  ["gender.memberOf('http://invariants.test/nowhere').not()", true],
])('a constraint fails only where it can be told: %s', async (expression, holds) => {
  const profile = profileOn('Patient', PROFILE, [
    { path: 'Patient', constraint: [{ key: 'k', severity: 'error', human: 'x', expression }] },
  ])
  const patient = { resourceType: 'Patient', meta: { profile: [PROFILE] }, gender: 'male' }
  expect(await findingsOf(patient, [profile], /^invariant/)).toEqual(holds ? [] : ['error invariant Patient'])
})

test.each([
  ["gender.elementDefinition().path = 'Patient.gender'", true],
  ["deceased.elementDefinition().path = 'Patient.deceased[x]'", true],
  ["name.given.first().elementDefinition().max = '*'", true],
  ["elementDefinition().path = 'Patient'", true],
  ['gender.elementDefinition().max = 2', false],
  [`name.slice('${PROFILE}', 'official').given = 'Ann'`, true],
  [`name.slice('${PROFILE}', 'official').given = 'Bea'`, false],
  [`name.slice('${PROFILE}', 'other').empty()`, true],
  [`telecom.slice('${PROFILE}', 'official').empty()`, true],
  [`address.slice('${PROFILE}', 'official').city = 'Rome'`, true],
])('a constraint may ask for definitions and slices: %s', async (expression, holds) => {
  const profile = profileOn('Patient', PROFILE, [
    { path: 'Patient', constraint: [{ key: 'k', severity: 'error', human: 'x', expression }] },
    { path: 'Patient.name', slicing: { discriminator: [{ type: 'value', path: 'use' }], rules: 'open' } },
    { path: 'Patient.name', sliceName: 'official' },
    { path: 'Patient.name.use', fixedCode: 'official' },
    { path: 'Patient.address', slicing: { discriminator: [{ type: 'value', path: 'use' }], rules: 'open' } },
    { path: 'Patient.address', sliceName: 'official' },
    { path: 'Patient.address.use', fixedCode: 'home' },
  ])
  const patient = {
    resourceType: 'Patient',
    meta: { profile: [PROFILE] },
    name: [
      { use: 'official', given: ['Ann'] },
      { use: 'nickname', given: ['Bea'] },
    ],
    telecom: [{ system: 'phone', value: '1' }],
    address: [
      { use: 'home', city: 'Rome' },
      { use: 'work', city: 'Oslo' },
    ],
    gender: 'female',
    deceasedBoolean: false,
  }
  expect(await findingsOf(patient, [profile], /^invariant/)).toEqual(holds ? [] : ['error invariant Patient'])
})

test('a constraint that questionnaires have by their type holds elsewhere by its expression', async () => {
  const expression = 'descendants().linkId.isDistinct()'
  const profile = profileOn('QuestionnaireResponse', PROFILE, [
    { path: 'QuestionnaireResponse', constraint: [{ key: 'k', severity: 'error', human: 'x', expression }] },
  ])
  const response = (...linkIds: readonly string[]): JsonObject => ({
    resourceType: 'QuestionnaireResponse',
    meta: { profile: [PROFILE] },
    status: 'completed',
    item: linkIds.map((linkId) => ({ linkId })),
  })
  expect(await findingsOf(response('1', '2'), [profile], /^invariant/)).toEqual([])
  expect(await findingsOf(response('1', '1'), [profile], /^invariant/)).toEqual(['error invariant QuestionnaireResponse'])
})

const risk = (prediction: JsonObject): JsonObject => ({
  resourceType: 'RiskAssessment',
  status: 'final',
  subject: { display: 'x' },
  prediction: [prediction],
})

test.each<readonly [of: string, resource: JsonObject, said: readonly string[]]>([
  ['a prediction without probability', risk({ qualitativeRisk: { text: 'high' } }), []],
  ['a probability that is a range', risk({ probabilityRange: { low: { value: 1, system: 'http://unitsofmeasure.org', code: '%' } } }), []],
  ['a probability above 100 %', risk({ probabilityDecimal: 101 }), ['error invariant RiskAssessment.prediction[0]']],
])('ras-2 of %s', async (_, resource, said) => {
  expect(await findingsOf(resource, [], /^invariant/)).toEqual(said)
})

test.each<readonly [telecoms: number, said: readonly string[]]>([
  [0, ['error invariant PractitionerRole']],
  [1, []],
  [2, []],
])('a profile that wants "telecom or endpoint", with %d telecoms', async (telecoms, said) => {
  const profile = profileOn('PractitionerRole', PROFILE, [
    { path: 'PractitionerRole', constraint: [{ key: 'pd-1', severity: 'error', human: 'x', expression: 'telecom or endpoint' }] },
  ])
  const telecom = Array.from({ length: telecoms }, (_, index) => ({ system: 'phone', value: String(index) }))
  const role = { resourceType: 'PractitionerRole', meta: { profile: [PROFILE] }, ...(telecoms > 0 && { telecom }) }
  expect(await findingsOf(role, [profile], /^invariant/)).toEqual(said)
})

test.each<readonly [path: string, said: readonly string[]]>([
  ['Observation.value[x]', []],
  ['Observation..x', ['error eld-19', 'warning eld-20']],
  ['Observation.a b', ['error eld-19', 'warning eld-20']],
  ['Observation.Value', ['warning eld-20']],
])('eld-19 and eld-20 want the whole path to match: %s', async (path, said) => {
  const { findings } = await validate(forRequest(ctx, {}), {
    resource: JSON.stringify(profileOn('Observation', PROFILE, [{ id: path, path }])),
  })
  const eld = findings.filter(({ kind, text }) => kind === 'invariant' && text.startsWith('eld-'))
  expect(eld.map(({ severity, text }) => `${severity} ${text.slice(0, 6)}`)).toEqual(said)
  for (const { expression } of eld) expect(expression).toBe('StructureDefinition.differential.element[0]')
})

const DETAILS = 'name.exists() or telecom.exists() or address.exists() or organization.exists()'
const NAMED = 'name.exists()'

test.each([
  ['that of the type made a warning', { gender: 'female' }, DETAILS, ['pat-1 warning'], ['error']],
  ['a warning before an error', { telecom: [{ value: '1' }] }, NAMED, ['k warning', 'l error'], ['warning', 'error']],
  ['an error twice', { telecom: [{ value: '1' }] }, NAMED, ['k error', 'k error'], ['error']],
  ['an error made a warning', { telecom: [{ value: '1' }] }, NAMED, ['k error', 'k warning'], ['error']],
  ['a warning made an error', { telecom: [{ value: '1' }] }, NAMED, ['k warning', 'k error'], ['error']],
])('an expression with a key is as severe as the strictest: %s', async (_, contact, expression, constraints, said) => {
  const constraint = constraints.map((one) => {
    const [key, severity] = one.split(' ')
    return { key, severity, human: 'x', expression }
  })
  const profile = profileOn('Patient', PROFILE, [{ path: 'Patient.contact', constraint }])
  const patient = { resourceType: 'Patient', contact: [contact] }
  const { findings } = await validate(forRequest(ctx, { resources: [profile] }), { resource: patient, profiles: [PROFILE] })
  expect(
    findings.filter(({ kind, expression }) => kind === 'invariant' && expression === 'Patient.contact[0]').map(({ severity }) => severity),
  ).toEqual(said)
})

test.each([
  ['off', 'warning', ['warning']],
  ['information', 'warning', ['warning']],
  ['error', 'warning', ['error']],
  ['warning', 'error', ['error']],
] as const)('a best practice that a profile repeats without saying so, where they are %s: %s', async (bestPractice, severity, said) => {
  const constraint = [{ key: 'dom-6', severity, human: 'x', expression: 'text.`div`.exists()' }]
  const profile = profileOn('Patient', PROFILE, [{ path: 'Patient', constraint }])
  const input = { resource: { resourceType: 'Patient', active: true }, profiles: [PROFILE], bestPractice }
  const { findings } = await validate(forRequest(ctx, { resources: [profile] }), input)
  expect(findings.filter(({ kind }) => kind === 'invariant').map((finding) => finding.severity)).toEqual(said)
})

test.each<readonly [expression: string, severity: string, said: readonly string[]]>([
  ['name.(', 'warning', ['error']],
  ['name.zz()', 'warning', ['error']],
  ['name.zz()', 'error', ['error']],
  ['deceased.as(Zz).exists()', 'warning', ['warning']],
  [' ', 'error', []],
  ['name.single().exists()', 'warning', ['warning']],
])(
  'a constraint that is no FHIRPath is an error, another that cannot be evaluated is not met: %s, %s',
  async (expression, severity, said) => {
    const constraint = [{ key: 'z-1', severity, human: 'x', expression }]
    const profile = profileOn('Patient', PROFILE, [{ path: 'Patient', constraint }])
    const patient = { resourceType: 'Patient', name: [{ text: 'a' }, { text: 'b' }] }
    const { findings } = await validate(forRequest(ctx, { resources: [profile] }), { resource: patient, profiles: [PROFILE] })
    expect(findings.filter(({ kind }) => kind === 'invariant').map((finding) => finding.severity)).toEqual(said)
  },
)

test.each([
  ['Patient', 'Patient.name', true],
  ['Patient', 'Observation.code', false],
  [undefined, 'Patient.name', false],
])('sdf-8a holds for the type %s and the path %s: %s', async (type, path, holds) => {
  const definition = {
    resourceType: 'StructureDefinition',
    url: 'http://invariants.test/d',
    name: 'D',
    status: 'draft',
    kind: 'resource',
    abstract: false,
    ...(type !== undefined && { type }),
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: { element: [{ path }] },
  }
  const found = await findingsOf(definition, [], /^invariant/)
  expect(found.includes('error invariant StructureDefinition.differential')).toBe(!holds)
})
