import { expect, test } from 'vitest'
import { r4SearchParameters } from './index.js'

const rows = new Map(r4SearchParameters().map((row) => [row.url.slice('http://hl7.org/fhir/SearchParameter/'.length), row]))

test('codes have the system that they are bound to, by type', () => {
  expect(rows.get('individual-gender')?.systems?.['Patient']).toBe('http://hl7.org/fhir/administrative-gender')
  expect(rows.get('medications-status')?.systems?.['MedicationRequest']).toBe('http://hl7.org/fhir/CodeSystem/medicationrequest-status')
  expect(rows.get('medications-status')?.systems?.['MedicationDispense']).toBe(
    'http://terminology.hl7.org/CodeSystem/medicationdispense-status',
  )
  expect(rows.get('Task-intent')?.systems?.['Task']).toMatchObject({
    unknown: 'http://hl7.org/fhir/task-intent',
    order: 'http://hl7.org/fhir/request-intent',
  })
  expect(rows.get('clinical-code')?.systems).toBeUndefined()
})

test('parameters on canonicals are marked', () => {
  expect(rows.get('Measure-depends-on')?.canonical).toBe(true)
  expect(rows.get('QuestionnaireResponse-questionnaire')?.canonical).toBe(true)
  expect(rows.get('Observation-subject')?.canonical).toBeUndefined()
})
