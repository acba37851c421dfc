import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const NAMED = 'http://conforming.test/named'
const HOLDER = 'http://conforming.test/holder'
const named = profileOn('Patient', NAMED, [{ id: 'Patient.name', path: 'Patient.name', min: 1 }])
const narrow = [{ code: 'Patient', profile: [NAMED] }]
const sliced = profileOn('Bundle', HOLDER, [
  { id: 'Bundle.entry', path: 'Bundle.entry', slicing: { discriminator: [{ type: 'profile', path: 'resource' }], rules: 'closed' } },
  { id: 'Bundle.entry:p', path: 'Bundle.entry', sliceName: 'p', min: 1 },
  { id: 'Bundle.entry:p.resource', path: 'Bundle.entry.resource', min: 1, type: narrow },
])
const tested = profileOn('Bundle', HOLDER, [
  {
    id: 'Bundle',
    path: 'Bundle',
    constraint: [{ key: 'c-1', severity: 'error', human: 'named', expression: `entry.resource.all(conformsTo('${NAMED}'))` }],
  },
])
const DETAILS: JsonObject = { id: 'p', name: [{ family: 'F' }] }
const holding = (details: JsonObject): JsonObject => ({
  resourceType: 'Bundle',
  meta: { profile: [HOLDER] },
  type: 'collection',
  entry: [{ fullUrl: 'http://conforming.test/Patient/p', resource: { resourceType: 'Patient', ...details } }],
})
const OUTSIDE = ['error too-few Bundle', 'error slice-closed Bundle.entry[0]']

test.each<readonly [why: string, details: JsonObject, isInside: boolean]>([
  ['nothing is wrong', DETAILS, true],
  ['the profile demands more', { id: 'p' }, false],
  ['a code of its type is wrong', { ...DETAILS, gender: 'x' }, false],
  ['a date is none', { ...DETAILS, birthDate: '2020-13' }, false],
  ['a constraint of its type is not met', { ...DETAILS, contact: [{ gender: 'male' }] }, false],
  ['an extension is not known', { ...DETAILS, extension: [{ url: 'http://conforming.test/none', valueString: 'x' }] }, false],
  ['a property is not known, which is about its JSON only', { ...DETAILS, nonsense: 1 }, true],
  ['a boolean is a string in JSON', { ...DETAILS, active: 'true' }, true],
  ['an array is empty in JSON', { ...DETAILS, link: [] }, true],
])('a resource conforms to a profile as it does to its type: %s', async (_, details, isInside) => {
  const bundle = holding(details)
  const slices = await findingsOf(bundle, [sliced, named], /^(slice-closed|too-few)$/)
  expect(slices.filter((one) => !one.includes('.resource'))).toEqual(isInside ? [] : OUTSIDE)
  const constraints = await findingsOf(bundle, [tested, named], /^invariant$/)
  expect(constraints.includes('error invariant Bundle')).toBe(!isInside)
})

test('what is seen while a resource is tried is no repetition when it is validated', async () => {
  const OUTDATED = 'http://conforming.test/outdated'
  const outdated = {
    ...profileOn('Extension', OUTDATED, [{ id: 'Extension.url', path: 'Extension.url', fixedUri: OUTDATED }]),
    status: 'retired',
    context: [{ type: 'element', expression: 'Patient' }],
  }
  const bundle = holding({
    ...DETAILS,
    contact: [{ id: 'c', name: { id: 'n', text: 'x' } }],
    extension: [{ url: OUTDATED, valueCode: 'x' }],
  })
  const inner = 'Bundle.entry[0].resource'
  expect(await findingsOf(bundle, [sliced, named, outdated], /^(element-id|extension-.*)$/)).toEqual([
    `information extension-outdated ${inner}.extension[0]`,
  ])
})

test.each([
  [{ gender: 'x' }, ['error reference Observation.subject', 'information reference-target Observation.subject']],
  [{ nonsense: 1 }, []],
])('the target of a reference conforms to a profile if it has no errors but in its JSON: %j', async (details, said) => {
  const profile = profileOn('Observation', HOLDER, [
    { id: 'Observation.subject', path: 'Observation.subject', type: [{ code: 'Reference', targetProfile: [NAMED] }] },
  ])
  const observation = {
    resourceType: 'Observation',
    meta: { profile: [HOLDER] },
    contained: [{ resourceType: 'Patient', ...DETAILS, ...details }],
    status: 'final',
    code: { text: 'x' },
    subject: { reference: '#p' },
  }
  expect(await findingsOf(observation, [profile, named], /^reference/)).toEqual(said)
})
