import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askFhir, at, fhirHeaders, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const criteria = { language: 'application/x-fhir-query', expression: 'Observation?code=http://loinc.org|29463-7' }
const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  url: 'http://example.org/m',
  version: '1',
  status: 'active',
  group: [{ population: [{ criteria }] }],
}
const REPORT = {
  resourceType: 'MeasureReport',
  status: 'complete',
  type: 'data-collection',
  measure: 'http://example.org/m',
  period: { start: '2026', end: '2026' },
}
const PATIENT = { resourceType: 'Patient', id: 'ada' }
const weight = (value: string, over = ''): string =>
  `{"resourceType":"Observation","id":"w"${over},"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"29463-7"}]},"subject":{"reference":"Patient/ada"},"valueQuantity":{"value":${value}}}`

let running: RunningServer
beforeAll(async () => {
  const { indexer, ...release } = r4()
  running = await startServer({ context: createContext({ storage: memoryStorage([MEASURE], { indexer }), ...release }), indexer })
})
afterAll(() => running.stop())

const parameter = (name: string, resource: object | string): string =>
  `{"name":"${name}","resource":${typeof resource === 'string' ? resource : JSON.stringify(resource)}}`
const submit = (parameters: readonly string[], path = '/Measure/m/$submit-data', token = running.token): Promise<Reply> =>
  send(`${running.base}/fhir/R4${path}`, {
    method: 'POST',
    headers: fhirHeaders(token),
    body: `{"resourceType":"Parameters","parameter":[${parameters.join(',')}]}`,
  })
const count = async (type: string): Promise<unknown> => at((await askFhir(running, `/${type}?_summary=count`)).json, 'total')

describe('$submit-data', () => {
  it('stores report and resources in one transaction, digits of numbers and all; what was submitted can be collected', async () => {
    const answer = await submit([
      parameter('measureReport', REPORT),
      parameter('resource', PATIENT),
      parameter('resource', weight('70.50')),
    ])
    expect(answer.status).toBe(200)
    expect(at(answer.json, 'type')).toBe('transaction-response')
    expect(at(answer.json, 'entry', 0, 'response', 'location')).toMatch(/MeasureReport\//)
    const query = 'periodStart=2026&periodEnd=2026&subject=Patient/ada'
    const collected = await askFhir(running, `/Measure/m/$collect-data?${query}`)
    expect(collected.text).toContain('"value":70.50')
    expect(at(collected.json, 'parameter', 0, 'resource', 'evaluatedResource')).toEqual([{ reference: 'Observation/w' }])
    const again = await send(`${running.base}/fhir/R4/Measure/$submit-data`, {
      method: 'POST',
      headers: fhirHeaders(running.token),
      body: collected.text,
    })
    expect(again.status).toBe(200)
    expect((await askFhir(running, '/Observation/w')).text).toContain('"value":70.50')
  })

  it.each([
    ['no report', [parameter('resource', PATIENT)], 400, 'measureReport'],
    ['two reports', [parameter('measureReport', REPORT), parameter('measureReport', REPORT)], 400, 'measureReport'],
    ['a report of another type', [parameter('measureReport', { ...REPORT, type: 'summary' })], 400, 'data-collection'],
    ['a report that is none', [parameter('measureReport', PATIENT)], 400, 'MeasureReport'],
    ['a report of another Measure', [parameter('measureReport', { ...REPORT, measure: 'http://example.org/x' })], 400, 'another Measure'],
    ['another version', [parameter('measureReport', { ...REPORT, measure: 'http://example.org/m|2' })], 400, 'another Measure'],
    ['an unknown parameter', [parameter('measureReport', REPORT), parameter('what', PATIENT)], 400, 'neither'],
    ['what is not a resource', [parameter('measureReport', REPORT), '{"name":"resource","valueString":"x"}'], 400, 'not a resource'],
    [
      'an id that is none',
      [parameter('measureReport', REPORT), parameter('resource', { ...PATIENT, id: 'a/b' })],
      400,
      'parameter[1].resource has an id',
    ],
    ['an id that is a number', [parameter('measureReport', REPORT), parameter('resource', { ...PATIENT, id: 4 })], 400, 'resource.id'],
    [
      'what cannot be stored',
      [parameter('measureReport', REPORT), parameter('resource', { ...PATIENT, id: 'eve', nothing: 1 })],
      422,
      'nothing',
    ],
  ])('refuses %s, and stores nothing', async (_, parameters, status, text) => {
    const before = [await count('MeasureReport'), await count('Patient')]
    const answer = await submit([...parameters])
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(text)])
    expect([await count('MeasureReport'), await count('Patient')]).toEqual(before)
  })

  it('needs the rights to the Measure and to each resource', async () => {
    const reader = await running.sessions.create({
      user: USER,
      scopes: ['system/Measure.r', 'system/MeasureReport.c', 'system/Observation.u'],
    })
    const parameters = [parameter('measureReport', REPORT), parameter('resource', weight('71'))]
    expect((await submit(parameters, undefined, reader.token)).status).toBe(200)
    expect((await submit([...parameters, parameter('resource', PATIENT)], undefined, reader.token)).status).toBe(403)
    const writer = await running.sessions.create({ user: USER, scopes: ['system/MeasureReport.c'] })
    expect((await submit(parameters, undefined, writer.token)).status).toBe(403)
    expect((await submit(parameters, '/Measure/none/$submit-data')).status).toBe(404)
  })

  it('takes Parameters by POST only', async () => {
    expect((await askFhir(running, '/Measure/$submit-data')).status).toBe(405)
    expect((await askFhir(running, '/Measure/$submit-data', { method: 'POST', body: JSON.stringify(MEASURE) })).status).toBe(400)
    expect((await askFhir(running, '/Patient/$submit-data', { method: 'POST', body: '{}' })).status).toBe(404)
  })
})
