import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'
import { profileOn } from './profile-on.js'

const TEXT_LINK = 'http://hl7.org/fhir/StructureDefinition/textLink'
const DIV = '<div xmlns="http://www.w3.org/1999/xhtml"><p id="a">x</p><p class="note generated">y</p></div>'

const html = (id: string): JsonObject => ({ url: 'htmlid', valueString: id })
const data = (uri: string): JsonObject => ({ url: 'data', valueUri: uri })
const selector = (expression: string): JsonObject => ({ url: 'selector', valueString: expression })
const linked = (parts: readonly JsonObject[], div: string | undefined = DIV): JsonObject => ({
  resourceType: 'Patient',
  text: { status: 'generated', extension: [{ url: TEXT_LINK, extension: parts }], ...(div !== '' && { div }) },
  contained: [{ resourceType: 'Organization', id: 'o', identifier: [{ id: 'twice', value: '1' }] }],
  managingOrganization: { reference: '#o' },
  name: [{ id: 'n', text: 'x' }],
  telecom: [{ id: 'twice', value: '1' }],
  birthDate: '2000-01-01',
  _birthDate: { id: 'd' },
})
const FAULT = ['error text-link Patient.text']

test.each<readonly [what: string, resource: JsonObject, said: readonly string[]]>([
  ['an element and data', linked([html('a'), data('#n')]), []],
  ['data that is contained', linked([html('a'), data('#o')]), []],
  ['a selection of the data', linked([html('a'), data('#n'), selector('given.first()')]), []],
  ['an element that is not there', linked([html('b'), data('#n')]), FAULT],
  ['no data', linked([html('a')]), FAULT],
  ['data that is not there', linked([html('a'), data('#x')]), FAULT],
  ['data that is there twice', linked([html('a'), data('#twice')]), FAULT],
  ['data elsewhere', linked([html('a'), data('Patient/1')]), FAULT],
  ['a selector that cannot be read', linked([html('a'), data('#n'), selector('given.')]), FAULT],
  ['a selector of what the data does not have', linked([html('a'), data('#n'), selector('nonsense')]), FAULT],
  ['a selector of what a part of the data does not have', linked([html('a'), data('#n'), selector('period.nonsense')]), FAULT],
  ['a selector from the type of the data', linked([html('a'), data('#n'), selector('HumanName.given')]), []],
  ['a selector from another type', linked([html('a'), data('#n'), selector('Patient.name')]), FAULT],
  ['a selector of what a date does not have', linked([html('a'), data('#d'), selector('nonsense')]), FAULT],
  ['no narrative', linked([html('a'), data('#n')], ''), FAULT],
])('a textLink with %s', async (_, resource, said) => {
  expect(await findingsOf(resource, [], /^text-link/)).toEqual(said)
})

test('the data of a textLink must be there, unlike the fragment of another uri', async () => {
  const other = { extension: [{ url: 'http://links.test/x', valueUri: '#x' }] }
  expect(await findingsOf({ ...linked([html('a'), data('#x')]), ...other }, [], /^uri-fragment/)).toEqual([
    'error uri-fragment Patient.text.extension[0].extension[1].value.ofType(uri)',
    'warning uri-fragment Patient.extension[0].value.ofType(uri)',
  ])
})

test('a textLink may lead to another entry of the Bundle', async () => {
  const entry = (address: string, resource: JsonObject): JsonObject => ({ fullUrl: `http://a.org/fhir/${address}`, resource })
  const group = { resourceType: 'Group', id: 'g', type: 'person', actual: true, identifier: [{ id: 'i', value: '1' }] }
  const patient = { ...linked([html('a'), data('Group/g#i'), selector('value')]), id: 'p' }
  const bundle = { resourceType: 'Bundle', type: 'collection', entry: [entry('Patient/p', patient), entry('Group/g', group)] }
  expect(await findingsOf(bundle, [], /^text-link/)).toEqual([])
})

test.each(['error', 'warning', 'information'])('what does not tell its source is as severe as a profile says: %s', async (valueCode) => {
  const profile = profileOn('Patient', 'http://links.test/p', [
    { path: 'Patient.text', extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/narrative-source-control', valueCode }] },
  ])
  const told = (div: string): JsonObject => ({
    resourceType: 'Patient',
    meta: { profile: ['http://links.test/p'] },
    text: { status: 'generated', div },
  })
  expect(await findingsOf(told(DIV), [profile], /^narrative-source/)).toEqual([`${valueCode} narrative-source Patient.text`])
  expect(await findingsOf(told(DIV.replace('<p id="a">', '<p id="a" class="original">')), [profile], /^narrative-source/)).toEqual([])
})
