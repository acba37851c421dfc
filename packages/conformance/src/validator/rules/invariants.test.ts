import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

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
