import { createBots, type BotContext, type BotEvent } from 'fhir-ops/execute'
import { isObject, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { afterAll, describe, expect, test } from 'vitest'
import { wholeService } from '../security/service.js'

const GOOD = { resourceType: 'Patient', id: 'p', gender: 'female' }
const MISSHAPEN = { resourceType: 'Patient', id: 'p', name: 'Ada', foo: 1 }
const MISCODED = { resourceType: 'Patient', id: 'p', gender: 'lady' }
const BOT = { resourceType: 'Bot', id: 'p', runtime: 'sandbox', code: 'export const handler = () => 1' }

describe.each([
  ['nothing', 'none', [200, 200]],
  ['the structure, as by default,', undefined, [422, 200]],
  ['the structure', 'structure', [422, 200]],
  ['all', 'full', [422, 422]],
] as const)('a service that validates %s of what it stores', (_, validateWrites, [misshapen, miscoded]) => {
  const { call, close } = wholeService([GOOD], { ...(validateWrites !== undefined && { validateWrites }) })
  const put = async (resource: object): Promise<number> => (await call('PUT', '/Patient/p', JSON.stringify(resource))).status

  afterAll(close)

  test('answers an update accordingly, and stores what it takes', async () => {
    expect([await put(GOOD), await put(MISSHAPEN), await put(MISCODED)]).toEqual([200, misshapen, miscoded])
    expect(await put(GOOD)).toBe(200)
    expect((await call('PUT', '/Bot/p', JSON.stringify(BOT))).status).toBe(201)
  })
})

test('numbers are judged as they are written', async () => {
  const { call, close } = wholeService([])
  const put = async (rank: string): Promise<number> =>
    (await call('PUT', '/Patient/p', `{"resourceType":"Patient","id":"p","telecom":[{"system":"phone","value":"1","rank":${rank}}]}`))
      .status
  expect([await put('1'), await put('1.0'), await put('1e0')]).toEqual([201, 422, 422])
  await close()
})

describe('a service that validates all of what it stores', () => {
  const run = (event: BotEvent, { storage }: BotContext): unknown => isObject(event.input) && storage?.write(event.input)
  const bots = createBots({ hostBots: [{ id: 'writes', run }] })
  const { call, close } = wholeService([], { validateWrites: 'full', bots, grantBotStorage: true })
  const read = async (answer: Response): Promise<JsonObject> => {
    const body: unknown = await answer.json()
    return isObject(body) ? body : {}
  }
  const post = async (path: string, resource: object, status: number): Promise<JsonObject> => {
    const answer = await call('POST', path, JSON.stringify(resource))
    expect(answer.status).toBe(status)
    return read(answer)
  }
  const bundle = (type: string): object => ({
    resourceType: 'Bundle',
    type,
    entry: [GOOD, MISSHAPEN].map((resource) => ({ resource, request: { method: 'POST', url: 'Patient' } })),
  })
  const stored = async (): Promise<unknown> => (await read(await call('GET', '/Patient')))['total']

  afterAll(close)

  test('tells every error', async () => {
    const issues = objectsAt(await post('/Patient', MISSHAPEN, 422), 'issue')
    expect(issues.map(({ code, expression }) => [code, expression])).toEqual([
      ['invalid', undefined],
      ['invalid', ['Patient.name']],
      ['structure', ['Patient.foo']],
    ])
    expect(await stored()).toBe(0)
  })

  test('stores nothing of a transaction with an error, and of a batch what has none', async () => {
    const [first] = objectsAt(await post('', bundle('transaction'), 422), 'issue')
    expect(first).toMatchObject({ expression: ['Bundle.entry[1]'] })
    expect(await stored()).toBe(0)
    await post('', bundle('batch'), 200)
    expect(await stored()).toBe(1)
  })

  test('stores nothing with an error for a bot', async () => {
    const before = await stored()
    await post('/Bot/writes/$execute', { ...MISCODED, id: 'of-a-bot' }, 422)
    expect(await stored()).toBe(before)
    await post('/Bot/writes/$execute', { ...GOOD, id: 'of-a-bot' }, 200)
    expect(await stored()).toBe(Number(before) + 1)
  })
})
