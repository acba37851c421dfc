import { AsyncLocalStorage } from 'node:async_hooks'
import { OperationError } from 'fhir-ops/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { json, startScriptedServer, type ScriptedServer } from '../test/scripted-server.js'
import { httpStorage } from './index.js'

const callers = new AsyncLocalStorage<string | undefined>()
const callerToken = (): string | undefined => callers.getStore()

const PATIENT = { resourceType: 'Patient', id: 'a', meta: { versionId: '3' } }

let server: ScriptedServer
let elsewhere: ScriptedServer
/** `Authorization` and `If-None-Match` of every request. */
const seen: (readonly [string | undefined, string | undefined])[] = []
beforeAll(async () => {
  server = await startScriptedServer()
  elsewhere = await startScriptedServer()
})
afterAll(async () => {
  await server.stop()
  await elsewhere.stop()
})
beforeEach(() => {
  seen.length = 0
  elsewhere.requests.length = 0
  server.behave = (request, response) => {
    const known = request.headers['if-none-match']
    seen.push([request.headers.authorization, known])
    if (known === 'W/"3"') response.writeHead(304).end()
    else json(PATIENT, 200, { etag: 'W/"3"' })(request, response)
  }
})

describe('the token of a caller', () => {
  it('is passed on where that is asked for, each in its own request', async () => {
    const storage = httpStorage({ baseUrl: server.baseUrl, callerToken })
    await Promise.all(['ann', 'bob', undefined].map((token) => callers.run(token, async () => storage.read('Patient', 'a'))))
    expect(new Set(seen.map(([token]) => token))).toEqual(new Set(['Bearer ann', 'Bearer bob', undefined]))
  })

  it('goes nowhere otherwise', async () => {
    await callers.run('ann', async () => httpStorage({ baseUrl: server.baseUrl }).read('Patient', 'a'))
    await callers.run('ann', async () => httpStorage({ baseUrl: server.baseUrl, token: 'ours' }).read('Patient', 'a'))
    expect(seen.map(([token]) => token)).toEqual([undefined, 'Bearer ours'])
  })

  it('is never sent to another origin', async () => {
    server.behave = (_, response) => void response.writeHead(307, { location: `${elsewhere.baseUrl}/Patient/a` }).end()
    const storage = httpStorage({ baseUrl: server.baseUrl, callerToken })
    await expect(callers.run('ann', async () => storage.read('Patient', 'a'))).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(elsewhere.requests).toEqual([])
  })

  it.each([401, 403])('that the upstream refuses (%d) is the caller’s affair, and no failure of the upstream', async (status) => {
    server.behave = json({}, status)
    const storage = httpStorage({ baseUrl: server.baseUrl, callerToken })
    for (let n = 0; n < 8; n++)
      await expect(callers.run('ann', async () => storage.read('Patient', 'a'))).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('and a token of our own exclude each other', () => {
    expect(() => httpStorage({ baseUrl: server.baseUrl, token: 'ours', callerToken })).toThrow(TypeError)
  })
})

it('a misspelt option is a TypeError', () => {
  const misspelt = { baseUrl: 'https://fhir.example.org', callertoken: callerToken }
  expect(() => httpStorage(misspelt)).toThrow("httpStorage: there is no option 'callertoken'. Did you mean 'callerToken'?")
})

describe('kept answers', () => {
  it('are used when the upstream says that they still hold', async () => {
    const storage = httpStorage({ baseUrl: server.baseUrl, keptBytes: 10_000 })
    const [first, second] = [await storage.read('Patient', 'a'), await storage.read('Patient', 'a')]
    expect(seen.map(([, etag]) => etag)).toEqual([undefined, 'W/"3"'])
    expect(second?.text).toBe(first?.text)
  })

  it('are of one caller, where tokens are passed on', async () => {
    const storage = httpStorage({ baseUrl: server.baseUrl, keptBytes: 10_000, callerToken })
    for (const token of ['ann', 'bob', 'ann']) await callers.run(token, async () => storage.read('Patient', 'a'))
    expect(seen.map(([, etag]) => etag)).toEqual([undefined, undefined, 'W/"3"'])
  })

  it('are forgotten beyond the bytes for them', async () => {
    const storage = httpStorage({ baseUrl: server.baseUrl, keptBytes: 1_500 })
    server.behave = (request, response) => {
      seen.push([request.url, request.headers['if-none-match']])
      json({ ...PATIENT, id: request.url?.slice(-1) }, 200, { etag: 'W/"3"' })(request, response)
    }
    for (const id of ['a', 'b', 'a']) await storage.read('Patient', id)
    expect(seen.map(([, etag]) => etag)).toEqual([undefined, undefined, undefined])
  })

  it('are none by default', async () => {
    const storage = httpStorage({ baseUrl: server.baseUrl })
    for (let n = 0; n < 2; n++) await storage.read('Patient', 'a')
    expect(seen.map(([, etag]) => etag)).toEqual([undefined, undefined])
  })
})

describe('a transaction', () => {
  const entries = ['a', 'b'].map(
    (id) => ({ op: 'put', type: 'Basic', id, text: `{"resourceType":"Basic","id":"${id}","meta":{},"x":1.50}`, entries: [] }) as const,
  )
  const storage = () => httpStorage({ baseUrl: server.baseUrl, transactions: true })
  const response = (...parts: readonly object[]): object => ({ resourceType: 'Bundle', type: 'transaction-response', entry: parts })

  it('keeps the digits of numbers', async () => {
    let body = ''
    server.behave = (request, answer) => {
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () =>
        json(response(...[1, 2].map(() => ({ response: { status: '201 Created', etag: 'W/"1"' } }))))(request, answer),
      )
    }
    expect(await storage().write(entries)).toMatchObject([{ id: 'a', versionId: '1', created: true }, { id: 'b' }])
    expect(body).toContain('"x":1.50')
  })

  it.each([
    ['answers for one entry only', json(response({ response: { status: '201', etag: 'W/"1"' } })), 'storage-unavailable'],
    ['says that an entry failed', json(response(...[1, 2].map(() => ({ response: { status: '422' } })))), 'storage-unavailable'],
    ['tells no versions', json(response(...[1, 2].map(() => ({ response: { status: '200' } })))), 'storage-unavailable'],
    ['tells nothing', json(response({}, {})), 'storage-unavailable'],
    ['finds another version', json({}, 412), 'version-conflict'],
    ['refuses it', json({}, 422), 'resource-invalid'],
    ['knows none', json({}, 404), 'not-supported'],
  ])('of an upstream that %s fails', async (_, behave, code) => {
    server.behave = behave
    await expect(storage().write(entries)).rejects.toMatchObject({ code })
  })
})

describe('a function that gives our token', () => {
  const failure = async (token: () => Promise<string>): Promise<unknown> => {
    const calls = httpStorage({ baseUrl: server.baseUrl, timeoutMs: 50, token })
    const before = server.requests.length
    const failed: unknown = await calls.read('Patient', 'a').then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(server.requests).toHaveLength(before)
    return failed
  }

  it('and never does, is waited for no longer than the upstream', async () => {
    expect(await failure(() => new Promise(() => {}))).toMatchObject({ code: 'storage-timeout' })
  })

  it('and fails, is named', async () => {
    const cause = new Error('https://issuer.internal said no')
    const failed = await failure(async () => Promise.reject(cause))
    expect(failed).toMatchObject({
      code: 'storage-unavailable',
      message: 'The token for the upstream FHIR server could not be had.',
      cause,
    })
    const refused = new OperationError('unavailable', 'Ours.')
    expect(await failure(async () => Promise.reject(refused))).toBe(refused)
  })
})
