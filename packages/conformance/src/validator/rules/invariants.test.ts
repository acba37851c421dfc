import { expect, test } from 'vitest'
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
