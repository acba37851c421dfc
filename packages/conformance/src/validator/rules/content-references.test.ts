import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const PROFILE = 'http://content.test/p'
const KINDS = /^(too-few|invariant)$/

const profile = (...element: readonly JsonObject[]): JsonObject => profileOn('Questionnaire', PROFILE, element)
const group = (linkId: string, ...item: readonly JsonObject[]): JsonObject => ({ linkId, type: 'group', prefix: linkId, item })
const questionnaire = (...item: readonly JsonObject[]): JsonObject => ({
  resourceType: 'Questionnaire',
  meta: { profile: [PROFILE] },
  status: 'draft',
  item,
})

test('an element with the content of another obeys its constraints, however deep', async () => {
  const deep = questionnaire(group('1', group('1.1', { linkId: '1.1.1', type: 'group' })))
  expect(await findingsOf(deep, [], KINDS)).toEqual(['error invariant Questionnaire.item[0].item[0].item[0]'])
})

test.each<readonly [string, JsonObject, readonly string[]]>([
  ['in items', { path: 'Questionnaire.item.prefix', min: 1 }, ['too-few Questionnaire.item[0].item[0]', 'too-few Questionnaire.item[1]']],
  ['in items in items', { path: 'Questionnaire.item.item.prefix', min: 1 }, ['too-few Questionnaire.item[0].item[0]']],
  [
    'of items',
    { path: 'Questionnaire.item', constraint: [{ key: 'k', severity: 'error', human: 'has a prefix', expression: 'prefix.exists()' }] },
    ['invariant Questionnaire.item[0].item[0]', 'invariant Questionnaire.item[1]'],
  ],
])('what a profile demands %s holds where they are nested', async (_, element, places) => {
  const resource = questionnaire(group('1', { linkId: '1.1', type: 'string' }), { linkId: '2', type: 'string' })
  expect(await findingsOf(resource, [profile(element)], KINDS)).toEqual(places.map((place) => `error ${place}`))
})
