import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { botSchemas } from '@fhir-ops/bot-sandbox/schemas'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memoryStorage } from 'fhir-ops/memory'
import { translate } from 'fhir-ops/translate'
import { validate } from 'fhir-ops/validate'
import { describe, expect, test } from 'vitest'
import {
  bloodPressure,
  codeSystem,
  conceptMap,
  condition,
  encounter,
  patient,
  practitioner,
  RequestFailed,
  testClock,
  testIds,
  testService,
  valueSet,
} from './index.js'
import './vitest.js'

const ALL = [patient(), practitioner(), encounter(), condition(), bloodPressure(), codeSystem(), valueSet(), conceptMap()]

describe('a service', () => {
  test('has what it was given, for the operations and for the client', async () => {
    await using service = await testService({ resources: ALL })
    const { matches } = await translate(service.context, {
      url: conceptMap().url,
      system: codeSystem().url,
      code: 'urgent',
    })
    expect(matches[0]?.concept?.code).toBe('UR')
    const stored = await service.client.read('Patient', 'lovell')
    expect(stored.name?.[0]?.family).toBe('Lovell')
    expect(stored.meta?.lastUpdated).toBe('2026-01-01T12:00:00.000Z')
    const found = await service.client.search('Observation', { subject: 'Patient/lovell', 'component-code': ['8480-6'] })
    expect(found.map(({ id }) => id)).toEqual(['blood-pressure'])
  })

  test('starts with the time, user and scopes that are asked for, and moves on when told', async () => {
    await using service = await testService({
      now: '2030-05-01T00:00:00Z',
      user: 'nurse',
      scopes: ['openid', 'system/Patient.rs'],
      ttl: 60,
    })
    const userinfo = await service.handler(
      new Request(`${service.baseUrl}/oauth2/userinfo`, { headers: { authorization: `Bearer ${service.token}` } }),
    )
    expect(await userinfo.json()).toMatchObject({ sub: 'nurse' })
    await expect(service.client.create(patient())).rejects.toMatchObject({ status: 403 })
    service.clock.advance(61_000)
    await expect(service.client.search('Patient')).rejects.toMatchObject({ status: 401 })
    expect(service.clock.now().toISOString()).toBe('2030-05-01T00:01:01.000Z')
  })

  test('numbers resources without id, by type, and takes more later', async () => {
    await using service = await testService({ resources: [{ resourceType: 'Patient' }, { resourceType: 'Basic', code: { text: 'x' } }] })
    expect(await service.seed({ resourceType: 'Patient' }, patient())).toEqual(['Patient/2', 'Patient/lovell'])
    expect((await service.client.search('Patient')).map(({ id }) => id)).toEqual(['1', '2', 'lovell'])
  })

  test('makes the same ids in each run', async () => {
    const ids = async (): Promise<unknown> => {
      await using service = await testService()
      const first = await service.client.create({ resourceType: 'Patient', active: true })
      const second = await service.client.create({ resourceType: 'Patient', active: true })
      return [first.id, second.id]
    }
    const [once, again] = [await ids(), await ids()]
    expect(once).toEqual(again)
    expect(new Set(Array.isArray(once) ? once : []).size).toBe(2)
  })

  test('has a client for others, who may do what their scopes say', async () => {
    await using service = await testService({ resources: [patient(), patient({ id: 'other' })] })
    const other = await service.clientFor({ scopes: ['patient/Patient.rs'], patient: 'lovell' })
    expect((await other.search('Patient')).map(({ id }) => id)).toEqual(['lovell'])
    const failure = await other.read('Patient', 'other').catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(RequestFailed)
    expect(failure).toMatchObject({ status: 404, outcome: { resourceType: 'OperationOutcome' } })
    expect(String(failure)).toContain('GET Patient/other: 404')
  })

  test('answers what a client of FHIR asks: write, change, delete, batch and operations', async () => {
    await using service = await testService({ resources: ALL })
    const { client } = service
    const created = await client.create(patient({ birthDate: '1990-01-01' }))
    expect(created.id).not.toBe('lovell')
    expect((await client.update({ ...patient(), gender: 'other' })).gender).toBe('other')
    await client.delete('Patient', 'lovell')
    await expect(client.read('Patient', 'lovell')).rejects.toMatchObject({ status: 410 })
    const answer = await client.submit({
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'GET', url: 'Practitioner/keller' } }],
    })
    expect(answer.entry?.[0]?.resource).toMatchObject({ id: 'keller' })
    const parameters = await client.parameters('CodeSystem/$lookup', { query: { system: codeSystem().url, code: 'urgent' } })
    expect(parameters.parameter?.find(({ name }) => name === 'display')?.valueString).toBe('Urgent')
    expect(await client.operation('Patient/$validate', { body: patient() })).toMatchObject({ resourceType: 'OperationOutcome' })
    await expect(client.parameters('Patient/$validate', { body: patient() })).rejects.toThrow('answered OperationOutcome, not Parameters')
  })

  test('takes options of context and handler, and a storage of its own', async () => {
    const runtime = openBotSandbox()
    const code = 'export const handler = (event) => event.input.toUpperCase()'
    const storage = memoryStorage([{ resourceType: 'Bot', id: 'shout', code }])
    await using service = await testService({ storage, handler: { bots: createBots({ runtime }) }, context: { limits: { maxIssues: 1 } } })
    const answer = await service.client.request('Bot/shout/$execute', {
      method: 'POST',
      body: 'hi',
      headers: { 'content-type': 'text/plain' },
    })
    expect(await answer.text()).toBe('HI')
    expect(service.context.limits.maxIssues).toBe(1)
    await runtime.close()
  })

  test('refuses the input of a bot by its schema with 400 and the place, and a Bot whose schema cannot be used', async () => {
    const inputSchema = { type: 'object', properties: { weightKg: { type: 'number' } } }
    const hostBots = [{ id: 'bmi', run: ({ input }: BotEvent) => input, inputSchema }]
    await using service = await testService({ handler: { bots: createBots({ hostBots, schemas: botSchemas() }) } })
    const call = (body: object): Promise<object> => service.client.operation('Bot/bmi/$execute', { body })
    expect(await call({ weightKg: 61.5 })).toEqual({ weightKg: 61.5 })
    await expect(call({ weightKg: 'x' })).rejects.toMatchObject({
      status: 400,
      outcome: { issue: [{ code: 'structure', expression: ['input.weightKg'] }] },
    })
    const bot = { resourceType: 'Bot', id: 'own', code: 'export const handler = () => 1' }
    expect(await service.client.update({ ...bot, inputSchema })).toMatchObject({ inputSchema })
    await expect(service.client.update({ ...bot, inputSchema: { type: 'text' } })).rejects.toMatchObject({
      status: 422,
      outcome: { issue: [{ expression: ['Bot.inputSchema'] }] },
    })
  })

  test.each<[string, object, string]>([
    ['a misspelt option', { resource: [] }, "testService: there is no option 'resource'. Did you mean 'resources'?"],
    ['a number as time', { now: 5 }, 'testService: now must be a Date or a text'],
    ['what is not a time', { now: 'soon' }, 'testClock: soon is not a time.'],
    ['a scope that does not exist', { scopes: ['system/Patiant.rs'] }, "names no resource type. Did you mean 'Patient'?"],
  ])('refuses %s by name', async (_, options, message) => {
    await expect(testService(options)).rejects.toThrow(message)
  })

  test('refuses to store what is not a resource', async () => {
    await expect(testService({ resources: [{ id: 'x' }] })).rejects.toMatchObject({ name: 'OperationError' })
  })
})

test('a clock stands still until it is moved, and ids count', () => {
  const clock = testClock(new Date(0))
  clock.advance(1_500)
  expect(clock.now().getTime()).toBe(1_500)
  clock.set('2026-02-03T00:00:00Z')
  expect(clock.now().toISOString()).toBe('2026-02-03T00:00:00.000Z')
  expect(() => clock.advance(Number.NaN)).toThrow(TypeError)
  const newId = testIds()
  expect([newId(), newId()]).toEqual(['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'])
})

test.each(ALL.map((resource) => [resource.resourceType, resource] as const))(
  'the fixture %s is valid, without warnings',
  async (_, resource) => {
    await using service = await testService({ resources: ALL })
    await expect(resource).toBeValid(service)
    expect((await validate(service.context, { resource, level: 'warning' })).findings).toEqual([])
  },
)
