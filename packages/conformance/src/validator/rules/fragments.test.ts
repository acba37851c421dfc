import { expect, test } from 'vitest'
import { findingsOf } from './findings-of.js'

test.each<readonly [uri: string, said: readonly string[]]>([
  ['urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11#name', []],
  ['urn:uuid:no#name', ['error uri-form Patient.meta.source']],
])('a URN with a fragment: %s', async (source, said) => {
  expect(await findingsOf({ resourceType: 'Patient', meta: { source } }, [], /^uri-/)).toEqual(said)
})

test.each<readonly [uri: string, said: readonly string[]]>([
  ['#name', []],
  ['#other', ['information uri-fragment Patient.meta.source']],
  ['#', []],
  ['http://example.org#other', []],
])('a uri that is %s', async (source, said) => {
  expect(await findingsOf({ resourceType: 'Patient', meta: { source }, name: [{ id: 'name', text: 'x' }] }, [], /^uri-/)).toEqual(said)
})

test.each<readonly [members: object, said: readonly string[]]>([
  [{ identifier: [{ system: '#other', value: 'x' }] }, ['warning uri-fragment Patient.identifier[0].system']],
  [{ photo: [{ contentType: 'image/png', url: '#other' }] }, ['warning uri-fragment Patient.photo[0].url']],
  [{ photo: [{ contentType: 'image/png', url: '#name' }], name: [{ id: 'name', text: 'x' }] }, []],
])('a fragment elsewhere than in the source of a resource: %j', async (members, said) => {
  expect(await findingsOf({ resourceType: 'Patient', ...members }, [], /^uri-/)).toEqual(said)
})

test('a canonical that leads to nothing contained: TYPE_SPECIFIC_CHECKS_DT_URL_INTERNAL', async () => {
  const action = [{ definitionCanonical: '#other' }]
  const activity = { resourceType: 'ActivityDefinition', id: 'other', status: 'draft' }
  expect(await findingsOf({ resourceType: 'PlanDefinition', status: 'draft', action }, [], /^uri-/)).toEqual([
    'warning uri-fragment PlanDefinition.action[0].definition.ofType(canonical)',
  ])
  expect(await findingsOf({ resourceType: 'PlanDefinition', status: 'draft', contained: [activity], action }, [], /^uri-/)).toEqual([])
})

test('what cannot be used without the resource that it names: TYPE_SPECIFIC_CHECKS_DT_URL_INTERNAL', async () => {
  const item = [{ linkId: 'a', type: 'choice', answerValueSet: '#other' }]
  const form = { resourceType: 'Questionnaire', id: 'form', status: 'draft', item }
  const response = { resourceType: 'QuestionnaireResponse', status: 'completed', questionnaire: '#form' }
  expect(await findingsOf(form, [], /^uri-/)).toEqual(['error uri-fragment Questionnaire.item[0].answerValueSet'])
  expect(await findingsOf({ ...form, contained: [{ resourceType: 'ValueSet', id: 'other', status: 'draft' }] }, [], /^uri-/)).toEqual([])
  expect(await findingsOf(response, [], /^uri-/)).toEqual(['error uri-fragment QuestionnaireResponse.questionnaire'])
  expect(await findingsOf({ ...response, contained: [form] }, [], /^uri-/)).toEqual([
    'warning uri-fragment QuestionnaireResponse.contained[0].item[0].answerValueSet',
  ])
  expect(await findingsOf({ ...response, questionnaire: '#' }, [], /^uri-/)).toEqual([
    'error uri-fragment QuestionnaireResponse.questionnaire',
  ])
  const valueSet = {
    resourceType: 'ValueSet',
    status: 'draft',
    compose: { include: [{ system: '#other' }], exclude: [{ valueSet: ['#vs'] }] },
  }
  expect(await findingsOf(valueSet, [], /^uri-/)).toEqual([
    'error uri-fragment ValueSet.compose.include[0].system',
    'error uri-fragment ValueSet.compose.exclude[0].valueSet[0]',
  ])
})
