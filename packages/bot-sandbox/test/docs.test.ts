import { readFileSync } from 'node:fs'
import { isBotResponse } from 'fhir-ops/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'
import { afterAll, expect, test } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { runCode } from './runs.js'

const sandbox = openBotSandbox({ workers: 1 })
afterAll(() => sandbox.close())

const page = readFileSync(new URL('../../../docs/bots.md', import.meta.url), 'utf8')
const [bmi = '', form = '', hl7 = '', reads = '', medplum = '', ...others] = [...page.matchAll(/```js\n([^]*?)```/g)].map(
  ([, code]) => code ?? '',
)

test('every bot of the page is run here', () => {
  expect(others).toEqual([])
})

test('the bot for JSON', async () => {
  expect(await runCode(sandbox, bmi, { event: { input: { weightKg: 61.5, heightM: 1.68 } } })).toEqual({ bmi: 21.8 })
})

test('the bot for forms', async () => {
  const run = (input: object) => runCode(sandbox, form, { event: { input, contentType: 'application/x-www-form-urlencoded' } })
  expect(await run({ family: 'Lovell', given: 'Ada' })).toEqual({ resourceType: 'Patient', name: [{ family: 'Lovell', given: ['Ada'] }] })
  const refused = await run({})
  expect(isBotResponse(refused) && refused.status).toBe(400)
})

test('the bot for HL7 v2', async () => {
  const run = async (pid: string) => {
    const input = parseHl7(`MSH|^~\\&|LAB|CITY|APP|CLINIC|20260203093000||ORU^R01|42|P|2.5.1\r${pid}`)
    const ack = await runCode(sandbox, hl7, { event: { input, contentType: 'x-application/hl7-v2+er7' } })
    return isHl7Message(ack) ? [ack.get('MSH-3'), ack.get('MSH-10'), ack.get('MSA-1'), ack.get('MSA-2'), ack.get('MSA-3')] : ack
  }
  expect(await run('PID|1||7')).toEqual(['APP', 'r', 'AA', '42', undefined])
  expect(await run('PID|1')).toEqual(['APP', 'r', 'AE', '42', 'PID-3 is missing'])
})

test('the bot that reads stored resources', async () => {
  const storage = {
    read: async (type: string, id: string) => (id === 'p1' ? { resourceType: type, id } : undefined),
    search: async (query: string) => (query === 'Observation?subject=Patient/p1&_count=100' ? [{}, {}] : []),
    write: async () => ({}),
  }
  expect(await runCode(sandbox, reads, { event: { input: { id: 'p1' } }, capabilities: { storage } })).toEqual({
    patient: 'p1',
    observations: 2,
  })
})

test('the bot of Medplum', async () => {
  const asked: string[] = []
  const storage = {
    read: async (type: string, id: string) => (id === 'p1' ? { resourceType: type, id } : undefined),
    search: async (query: string) => {
      asked.push(query)
      return [{ resourceType: 'Observation', id: 'o' }]
    },
    write: async (resource: object) => ({ ...resource, meta: { versionId: '2' } }),
  }
  const run = (id: string): Promise<unknown> => runCode(sandbox, medplum, { event: { input: { id } }, capabilities: { storage } })
  expect(await run('p1')).toEqual({ resourceType: 'Patient', id: 'p1', active: true, meta: { versionId: '2' } })
  expect(asked).toEqual(['Observation?subject=Patient/p1&_sort=-date&_count=1'])
  await expect(run('none')).rejects.toMatchObject({ code: 'bot-failed' })
})
