import { isObject, objectsAt, stringAt } from 'fhir-ops/internal/json'
import { afterAll, expect, test } from 'vitest'
import { wholeService } from '../security/service.js'

const patient = { resourceType: 'Patient', id: 'p', gender: 'female' }
const measure = {
  resourceType: 'Measure',
  id: 'm',
  url: 'http://example.org/Measure/m',
  status: 'active',
  group: [{ population: [{ criteria: { language: 'application/x-fhir-query', expression: 'Patient' } }] }],
}
const service = wholeService([patient, measure])

afterAll(() => service.close())

const GENDER = 'http://hl7.org/fhir/ValueSet/administrative-gender'

/** Extensions of guides that are not part of R4. */
const FOREIGN = 'http://hl7.org/fhir/uv/application-feature/StructureDefinition/feature'
/** HL7 names publisher and contact in a definition; its expansion leaves them out. */
const OF_DEFINITION = '"work-group"'

test.each([
  '/metadata',
  '/metadata?mode=terminology',
  '/$versions',
  `/ValueSet/$expand?url=${GENDER}&includeDesignations=true&property=definition`,
  `/ValueSet/$validate-code?url=${GENDER}&system=http://hl7.org/fhir/administrative-gender&code=male`,
  '/CodeSystem/$lookup?system=http://hl7.org/fhir/administrative-gender&code=male&property=*',
  '/Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026',
  '/Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026&subject=p',
  '/Patient?gender=female',
  '/Patient/p/_history',
  '/Patient/none',
])('the answer to %s is a valid resource', async (path) => {
  const answer: unknown = await (await service.call('GET', path)).json()
  const type = isObject(answer) ? (stringAt(answer, 'resourceType') ?? '') : ''
  const outcome: unknown = await (await service.call('POST', `/${type}/$validate`, JSON.stringify(answer))).json()
  const findings = isObject(outcome) ? objectsAt(outcome, 'issue') : []
  const isFault = (text: string): boolean => !text.includes(FOREIGN) && !(path.includes('$expand') && text.includes(OF_DEFINITION))
  const faults = findings.filter((one) => stringAt(one, 'severity') !== 'information' && isFault(JSON.stringify(one)))
  expect(faults).toEqual([])
})
