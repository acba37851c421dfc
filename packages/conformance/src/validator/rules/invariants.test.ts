import { expect, test } from 'vitest'
import { findingsOf } from './findings-of.js'

const PROFILE = 'http://invariants.test/p'

test.each([
  ["gender.memberOf('http://hl7.org/fhir/ValueSet/administrative-gender')", true],
  ["gender.memberOf('http://hl7.org/fhir/ValueSet/item-type')", false],
  ["gender.memberOf('http://invariants.test/nowhere')", true],
  ["gender.memberOf('http://invariants.test/nowhere').not()", true],
])('a constraint fails only where it can be told: %s', async (expression, holds) => {
  const profile = {
    resourceType: 'StructureDefinition',
    url: PROFILE,
    name: 'P',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: { element: [{ path: 'Patient', constraint: [{ key: 'k', severity: 'error', human: 'x', expression }] }] },
  }
  const patient = { resourceType: 'Patient', meta: { profile: [PROFILE] }, gender: 'male' }
  expect(await findingsOf(patient, [profile], /^invariant/)).toEqual(holds ? [] : ['error invariant Patient'])
})
