import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('an Observation with a code', /^(?:profile-applied|too-few)$/)

const observation = (code: string, members: JsonObject = {}): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code }] },
  subject: { reference: 'Patient/1' },
  effectiveDateTime: '2020-01-01',
  valueQuantity: { value: 70, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  ...members,
})
const category = [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] }]
const APPLIED = 'information|informational profile-applied Observation'

add('of a vital sign: VALIDATION_VAL_PROFILE_SIGNPOST_OBS', [APPLIED], observation('8867-4', { category }))
add('of a vital sign that does not have what its profile demands', [APPLIED, 'error|structure too-few Observation'], {
  ...observation('8867-4', { category }),
  subject: undefined,
})
add('of a vital sign, in no category', [], observation('8867-4'))
add('of a vital sign, entered in error', [], observation('8867-4', { category, status: 'entered-in-error' }))
add('of something else', [], observation('718-7'))
