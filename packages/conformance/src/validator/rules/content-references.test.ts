import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
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
  ['in items', { path: 'Questionnaire.item.prefix', min: 1 }, ['too-few Questionnaire.item[1]']],
  ['in items in items', { path: 'Questionnaire.item.item.prefix', min: 1 }, ['too-few Questionnaire.item[0].item[0]']],
  [
    'of items',
    { path: 'Questionnaire.item', constraint: [{ key: 'k', severity: 'error', human: 'has a prefix', expression: 'prefix.exists()' }] },
    ['invariant Questionnaire.item[1]'],
  ],
])('what a profile demands %s holds there alone, and not where the type refers to that', async (_, element, places) => {
  const resource = questionnaire(group('1', { linkId: '1.1', type: 'string' }), { linkId: '2', type: 'string' })
  expect(await findingsOf(resource, [profile(element)], KINDS)).toEqual(places.map((place) => `error ${place}`))
})

test('a differential cannot change what the type refers to', async () => {
  const prefixed = { path: 'Questionnaire.item.prefix', min: 1 }
  const nested = { path: 'Questionnaire.item.item', contentReference: '#Questionnaire.item' }
  const resource = questionnaire(group('1', { linkId: '1.1', type: 'string' }))
  expect(await findingsOf(resource, [profile({ path: 'Questionnaire.item' }, prefixed, nested)], KINDS)).toEqual([])
})

test('a slice of items that have items may be missing', async () => {
  const slicing = { discriminator: [{ type: 'value', path: 'linkId' }], rules: 'open' }
  const nested = { path: 'Questionnaire.item.item', contentReference: '#Questionnaire.item' }
  const sliced = profile(
    { path: 'Questionnaire.item', slicing },
    nested,
    { path: 'Questionnaire.item', sliceName: 'a', min: 1 },
    { path: 'Questionnaire.item.linkId', patternString: 'a', min: 1 },
    nested,
  )
  expect(await findingsOf(questionnaire(group('a', group('b'))), [sliced], /^too-few$/)).toEqual([])
  expect(await findingsOf(questionnaire(group('b', group('a'))), [sliced], /^too-few$/)).toEqual(['error too-few Questionnaire'])
})

test.each<readonly [reference: string, places: readonly string[]]>([
  ['#Questionnaire.item', ['error too-few Questionnaire.item[0].item[0]']],
  ['http://hl7.org/fhir/StructureDefinition/Questionnaire#Questionnaire.item', []],
])('a snapshot that refers to %s means the items of that definition', async (contentReference, places) => {
  const snapshot = {
    element: [
      { id: 'Questionnaire', path: 'Questionnaire', min: 0, max: '*' },
      { id: 'Questionnaire.item', path: 'Questionnaire.item', min: 0, max: '*' },
      { id: 'Questionnaire.item.prefix', path: 'Questionnaire.item.prefix', min: 1, max: '1' },
      { id: 'Questionnaire.item.item', path: 'Questionnaire.item.item', min: 0, max: '*', contentReference },
    ],
  }
  const resource = questionnaire(group('1', { linkId: '1.1', type: 'string' }))
  expect(await findingsOf(resource, [{ ...profile({ path: 'Questionnaire' }), snapshot }], /^too-few$/)).toEqual(places)
})
