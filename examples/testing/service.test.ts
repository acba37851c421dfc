import '@fhir-ops/testing/vitest'
import { conceptMap, patient, testService } from '@fhir-ops/testing'
import { expect, test } from 'vitest'

test('the content of the ward', async () => {
  const service = await testService({ resources: [patient(), conceptMap()], now: '2026-01-31T12:00:00Z' })
  await expect(await service.client.read('Patient', 'lovell')).toBeValid(service)
  const urgent = { system: 'http://example.org/fhir/CodeSystem/visit-priority', code: 'urgent' }
  await expect(urgent).toTranslateTo(service, { code: 'UR' }, { url: 'http://example.org/fhir/ConceptMap/visit-priority' })
})
