import { createContext } from 'fhir-ops/context'
import { botResponse, createBots, type BotContext, type BotEvent, type BotRuntime } from 'fhir-ops/execute'
import type { BotTask } from 'fhir-ops/internal/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { createSessions, type AuditEvent } from 'fhir-ops/sessions'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, FULL_SCOPES, send, startServer, type Reply, type RunningServer } from './running-server.js'

const identifier = [{ system: 'urn:bots', value: 'echo' }]
const events: AuditEvent[] = []
const tasks: BotTask[] = []
/** Stands where the sandbox is: it gives the source back, so that a test sees what would have run. */
const runtime: BotRuntime = {
  concurrency: 2,
  async run(task) {
    tasks.push(task)
    return task.code
  },
  async close() {},
}

/** What a bot makes by itself, in forms that no request may bring. */
const made = new Map<string, unknown>([
  ['a member named __proto__', { resourceType: 'Basic', ...JSON.parse('{"extension":[{"__proto__":{}}]}') }],
  ['U+0000', { resourceType: 'Basic', language: 'a\u0000' }],
  ['a lone surrogate', { resourceType: 'Basic', language: '\ud800' }],
  ['too deep a nesting', { resourceType: 'Basic', extension: Array.from({ length: 200 }).reduce((inner: unknown) => [inner], []) }],
  ['too long a text', { resourceType: 'Basic', language: 'x'.repeat(1024 * 1024 + 1) }],
  ['too much', { resourceType: 'Basic', extension: Array.from({ length: 5 }, () => 'x'.repeat(1024 * 1024)) }],
  ['a list', []],
  ['nothing', undefined],
])

const MAX_ANSWER = 8 * 1024 * 1024

/** Gives three resources at a time, whatever it is asked for, as a server upstream may. */
function storageOfShortPages(): Storage {
  const storage = memoryStorage()
  return { ...storage, search: (query) => storage.search({ ...query, limit: Math.min(query.limit ?? 3, 3) }) }
}

let running: RunningServer
beforeAll(async () => {
  const sessions = createSessions({ store: memorySessionStore(), onAudit: (event) => void events.push(event) })
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  running = await startServer({
    sessions,
    context: createContext({ storage: storageOfShortPages(), search: { parameters }, limits: { maxAnswerBytes: MAX_ANSWER } }),
    grantBotStorage: true,
    bots: createBots({
      runtime,
      limits: { sourceBytes: 1_000, timeoutMs: 2_000 },
      hostBots: [
        { id: 'echo', identifier, run: (event: BotEvent) => ({ ...event }) },
        { id: 'text', run: () => 'plain <b>text</b>' },
        { id: 'nothing', run: () => undefined },
        { id: 'teapot', run: () => botResponse({ status: 418, headers: { 'Retry-After': '5' }, body: { a: 1 } }) },
        {
          id: 'fails',
          run: () => {
            throw new Error('secret words')
          },
        },
        {
          id: 'reads',
          run: (event: BotEvent, { storage }: BotContext) => storage?.read(String(at(event.input, 'type')), String(at(event.input, 'id'))),
        },
        { id: 'searches', run: (event: BotEvent, { storage }: BotContext) => storage?.search(String(at(event.input, 'query'))) },
        {
          id: 'makes',
          run: (event: BotEvent, { storage }: BotContext) =>
            storage?.write(made.get(String(at(event.input, 'what'))) as never).catch((error: unknown) => at(error, 'code')),
        },
        { id: 'writes', run: (event: BotEvent, { storage }: BotContext) => storage?.write(event.input as never) },
      ],
    }),
  })
})
afterAll(() => running.stop())

const fhir = (path: string): string => `${running.base}/fhir/R4${path}`
const run = (
  path: string,
  { type, body, token = running.token, accept }: { type?: string; body?: string | Uint8Array; token?: string; accept?: string } = {},
): Promise<Reply> =>
  send(fhir(path), {
    method: type === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(type !== undefined && { 'content-type': type }),
      ...(accept !== undefined && { accept }),
    },
    ...(body !== undefined && { body }),
  })
const putBot = (id: string, change: object = {}, token = running.token): Promise<Reply> =>
  send(fhir(`/Bot/${id}`), {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Bot', id, code: `code of ${id}`, ...change }),
  })
const tokenFor = async (project?: string, scopes: readonly string[] = FULL_SCOPES): Promise<string> =>
  (await running.sessions.create({ user: 'bob', scopes, ...(project !== undefined && { project }) })).token

describe('execute', () => {
  it.each([
    ['text/plain', '{"a":1}', '{"a":1}'],
    ['application/json; charset=utf-8', '{"a":{"b":[1,2]}}', { a: { b: [1, 2] } }],
    ['application/x-www-form-urlencoded', 'a=1&b=x+y%21', { a: '1', b: 'x y!' }],
    ['application/fhir+json', '{"resourceType":"Patient","active":true}', { resourceType: 'Patient', active: true }],
  ])('POST %s is parsed by its type', async (type, body, input) => {
    for (const path of ['/Bot/echo/$execute', '/Bot/$execute?identifier=urn:bots%7Cecho']) {
      const reply = await run(path, { type, body })
      expect([reply.status, at(reply.json, 'input'), at(reply.json, 'method')]).toEqual([200, input, 'POST'])
    }
  })

  it('POST of an HL7 v2 message', async () => {
    const reply = await run('/Bot/echo/$execute', { type: 'x-application/hl7-v2+er7', body: 'MSH|^~\\&|A|B\rPID|1' })
    expect([reply.status, at(reply.json, 'contentType')]).toEqual([200, 'x-application/hl7-v2+er7'])
  })

  it('GET passes the query as a map, without identifier', async () => {
    const byId = await run('/Bot/echo/$execute?a=1&b=%C3%A9&__proto__=x')
    expect(at(byId.json, 'input')).toEqual(JSON.parse('{"a":"1","b":"é","__proto__":"x"}'))
    const byIdentifier = await run('/Bot/$execute?identifier=urn:bots|echo&a=1')
    expect([at(byIdentifier.json, 'input'), at(byIdentifier.json, 'method')]).toEqual([{ a: '1' }, 'GET'])
  })

  it('a bot that is called by its id is passed identifier like any other parameter', async () => {
    const got = await run('/Bot/echo/$execute?identifier=urn:bots|text&a=1')
    expect([got.status, at(got.json, 'input'), at(got.json, 'bot')]).toEqual([200, { identifier: 'urn:bots|text', a: '1' }, { id: 'echo' }])
    const posted = await run('/Bot/echo/$execute?identifier=x', { type: 'text/plain', body: 'text' })
    expect([at(posted.json, 'input'), at(posted.json, 'query')]).toEqual(['text', { identifier: 'x' }])
  })

  const inBundle = (type: string, url: string): Promise<Reply> =>
    run('', {
      type: 'application/fhir+json',
      body: JSON.stringify({ resourceType: 'Bundle', type, entry: [{ request: { method: 'GET', url } }] }),
    })

  it('no bot runs in a transaction, which could not take back what it does', async () => {
    const reply = await inBundle('transaction', 'Bot/echo/$execute')
    expect([reply.status, at(reply.json, 'issue', 0, 'code'), at(reply.json, 'issue', 0, 'expression')]).toEqual([
      422,
      'not-supported',
      ['Bundle.entry[0]'],
    ])
  })

  it.each([
    ['text', '200', { resourceType: 'Binary', contentType: 'text/plain; charset=utf-8', data: btoa('plain <b>text</b>') }],
    ['nothing', '204', undefined],
    ['teapot', '418', undefined],
  ])('what %s returns within a batch is JSON', async (id, status, resource) => {
    const reply = await inBundle('batch', `Bot/${id}/$execute`)
    expect([reply.status, at(reply.json, 'entry', 0, 'response', 'status'), at(reply.json, 'entry', 0, 'resource')], reply.text).toEqual([
      200,
      status,
      resource,
    ])
  })

  it('the bot sees neither the token nor other headers that tell who calls', async () => {
    const reply = await run('/Bot/echo/$execute', { type: 'text/plain', body: 'x' })
    expect(reply.text).not.toContain(running.token)
    expect(at(reply.json, 'headers')).toEqual({ 'content-type': 'text/plain' })
  })

  it.each([
    ['/Bot/text/$execute', 200, 'text/plain; charset=utf-8', 'plain <b>text</b>'],
    ['/Bot/nothing/$execute', 204, undefined, ''],
    ['/Bot/teapot/$execute', 418, 'application/json; charset=utf-8', '{"a":1}'],
  ])('%s answers by what it returns', async (path, status, type, text) => {
    const reply = await run(path)
    expect([reply.status, reply.headers['content-type'], reply.text, reply.headers['x-content-type-options']]).toEqual([
      status,
      type,
      text,
      'nosniff',
    ])
  })

  it.each([
    ['no bar', '/Bot/$execute?identifier=echo', 400],
    ['two bars', '/Bot/$execute?identifier=a|b|c', 400],
    ['no value', '/Bot/$execute?identifier=a|', 400],
    ['twice', '/Bot/$execute?identifier=urn:bots|echo&identifier=urn:bots|echo', 400],
    ['none', '/Bot/$execute', 400],
    ['the identifier of a bot by id twice', '/Bot/echo/$execute?identifier=a&identifier=a', 400],
    ['unknown', '/Bot/$execute?identifier=urn:bots|nobody', 404],
    ['repeated keys', '/Bot/echo/$execute?a=1&a=2', 400],
    ['unknown id', '/Bot/nobody/$execute', 404],
    ['an id like a member', '/Bot/constructor/$execute', 404],
    ['another type', '/Patient/echo/$execute', 404],
    ['failing', '/Bot/fails/$execute', 422],
  ])('%s', async (_name, path, status) => {
    const reply = await run(path)
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
    expect(reply.text).not.toContain('secret words')
  })

  it.each([
    ['malformed JSON', 'application/json', '{"a":1,}', 400],
    ['a list', 'application/json', '[]', 400],
    ['a member twice', 'application/json', '{"a":1,"a":2}', 400],
    ['__proto__', 'application/json', '{"__proto__":{}}', 400],
    ['too deep', 'application/json', '{"a":'.repeat(200) + '1' + '}'.repeat(200), 400],
    ['JSON by another name', 'text/json', '{"a":1}', 200],
    ['another type', 'application/xml', '<a/>', 415],
    ['no HL7', 'x-application/hl7-v2+er7', 'PID|1', 400],
    ['a wrong charset', 'text/plain; charset=latin1', 'x', 415],
    ['no UTF-8', 'text/plain', Uint8Array.of(0xff), 400],
  ])('%s: %s', async (_name, type, body, status) => {
    expect((await run('/Bot/echo/$execute', { type, body })).status).toBe(status)
  })

  it.each(['{"a":', '[]'])('the body %s is refused before the right to run the bot is looked at', async (body) => {
    const token = await tokenFor(undefined, ['user/Patient.cruds'])
    expect((await run('/Bot/echo/$execute', { type: 'application/json', body, token })).status).toBe(400)
  })

  it('HEAD is 405, since running a bot has effects', async () => {
    const reply = await send(fhir('/Bot/echo/$execute'), { method: 'HEAD', headers: { authorization: `Bearer ${running.token}` } })
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, POST'])
  })

  it('needs Bot.r', async () => {
    expect((await run('/Bot/text/$execute', { token: await tokenFor(undefined, ['user/Patient.cruds']) })).status).toBe(403)
    expect((await run('/Bot/text/$execute', { token: await tokenFor(undefined, ['user/Bot.r']) })).status).toBe(200)
  })

  it('leaves a record of each run and each failure, without their content', async () => {
    events.length = 0
    await run('/Bot/echo/$execute?secret=value')
    await run('/Bot/fails/$execute')
    expect(events).toMatchObject([
      { type: 'bot-executed', operation: '$execute', resourceId: 'echo', sub: 'ann' },
      { type: 'bot-stopped', reason: 'bot-failed', resourceId: 'fails' },
    ])
    expect(JSON.stringify(events)).not.toContain('value')
  })
})

describe('a long JSON input', () => {
  const input = { items: Array.from({ length: 10_000 }, (_, n) => `item ${n}`) }
  const body = JSON.stringify(input, undefined, 1)

  it('is given to a function of the host as an object', async () => {
    const reply = await run('/Bot/echo/$execute', { type: 'application/json', body })
    expect(at(reply.json, 'input')).toEqual(input)
  })

  it('waits for a stored bot as the text that was sent, without its objects', async () => {
    await putBot('long')
    expect((await run('/Bot/long/$execute', { type: 'application/json', body })).status).toBe(200)
    const task = tasks.at(-1)
    expect(task?.inputText).toBe(body)
    expect(task?.event.input).toEqual(input)
    expect(task?.event.input).not.toBe(task?.event.input)
  })

  it.each([
    ['application/json', JSON.stringify(input).slice(0, -1)],
    ['application/json', JSON.stringify(input.items)],
    ['application/fhir+json', JSON.stringify({ ...input, resourceType: 1 })],
    ['application/json', JSON.stringify({ ...input, __proto__x: 1 }).replace('__proto__x', '__proto__')],
  ])('is checked as a short one is: %s', async (type, refused) => {
    expect((await run('/Bot/long/$execute', { type, body: refused })).status).toBe(400)
  })
})

describe('stored bots', () => {
  it('run in the runtime with their source', async () => {
    expect((await putBot('stored')).status).toBe(201)
    expect((await run('/Bot/stored/$execute')).text).toBe('code of stored')
  })

  it.each([
    [{ runtime: 'host' }, 400],
    [{ runtime: 'constructor' }, 400],
    [{ code: undefined }, 400],
    [{ code: 'x'.repeat(1_001) }, 422],
    [{ extra: 1 }, 400],
    [{ identifier: [{ system: 'a' }] }, 400],
  ])('are refused with %j', async (change, status) => {
    expect((await putBot('refused', change)).status).toBe(status)
  })

  it('cannot hide a function of the host', async () => {
    await putBot('text')
    expect((await run('/Bot/text/$execute')).text).toBe('plain <b>text</b>')
  })

  it('are written only with a scope for Bot by name', async () => {
    for (const scope of ['system/*.cruds', 'user/*.*', 'openid'])
      expect((await putBot('x', {}, await tokenFor(undefined, [scope]))).status).toBe(403)
    expect((await putBot('x', {}, await tokenFor(undefined, ['system/Bot.cud']))).status).toBe(201)
  })

  it('with one identifier: 412 naming the ids, and within a project the one that is there', async () => {
    const shared = [{ system: 'urn:x', value: 'shared' }]
    await putBot('one', { identifier: shared, project: 'p1' })
    await putBot('two', { identifier: shared, project: 'p2' })
    const path = '/Bot/$execute?identifier=urn:x|shared'
    const several = await run(path)
    expect([several.status, at(several.json, 'issue', 0, 'code')]).toEqual([412, 'multiple-matches'])
    expect(several.text).toMatch(/one.*two/)
    expect((await run(path, { token: await tokenFor('p2') })).text).toBe('code of two')
    expect((await run(path, { token: await tokenFor('p3') })).status).toBe(404)
  })

  it('of another project do not exist for the caller', async () => {
    await putBot('theirs', { project: 'p1', identifier: [{ system: 'urn:x', value: 'theirs' }] })
    const token = await tokenFor('p4')
    const authorization = `Bearer ${token}`
    const statuses = [
      (await run('/Bot/theirs/$execute', { token })).status,
      (await run('/Bot/theirs', { token })).status,
      (await putBot('theirs', { project: 'p4' }, token)).status,
      (await send(fhir('/Bot/theirs'), { method: 'DELETE', headers: { authorization } })).status,
      (await putBot('mine', { project: 'p1' }, token)).status,
      (await putBot('mine', { project: 'p4' }, token)).status,
    ]
    expect(statuses).toEqual([404, 404, 404, 204, 403, 201])
    const found = await run('/Bot?_summary=false', { token })
    expect((at(found.json, 'entry') as unknown[]).map((entry) => at(entry, 'resource', 'project'))).toEqual(['p4'])
    const chained = '/List?item:Bot.identifier=urn:x|theirs'
    expect([(await run(chained, { token })).status, (await run(chained)).status]).toEqual([403, 200])
    expect((await run('/Bot/theirs')).status).toBe(200)
  })
})

describe('the storage of a bot', () => {
  const json = (value: unknown): { type: string; body: string } => ({ type: 'application/json', body: JSON.stringify(value) })
  it('has the rights of its caller, and none on Bots', async () => {
    const scopes = ['user/Bot.r', 'user/Patient.cru', 'user/Observation.s']
    const token = await tokenFor(undefined, scopes)
    const made = await run('/Bot/writes/$execute', { ...json({ resourceType: 'Patient', id: 'made', gender: 'other' }), token })
    expect([made.status, at(made.json, 'meta', 'versionId')]).toEqual([200, '1'])
    expect(at((await run('/Bot/reads/$execute', { ...json({ type: 'Patient', id: 'made' }), token })).json, 'gender')).toBe('other')
    expect((await run('/Bot/searches/$execute', { ...json({ query: 'Observation?status=final' }), token })).json).toEqual([])
    const refused = await Promise.all([
      run('/Bot/searches/$execute', { ...json({ query: 'Patient' }), token }),
      run('/Bot/reads/$execute', { ...json({ type: 'Observation', id: 'x' }), token }),
      run('/Bot/reads/$execute', json({ type: 'Bot', id: 'stored' })),
      run('/Bot/writes/$execute', json({ resourceType: 'Bot', id: 'stored', code: 'x' })),
      run('/Bot/searches/$execute', json({ query: 'Bot' })),
    ])
    expect(refused.map(({ status }) => status).every((status) => status === 403 || status === 422)).toBe(true)
  })
  it('has no Binary of a resource that its caller may not read', async () => {
    const binary = { resourceType: 'Binary', id: 'secret', contentType: 'text/plain', data: 'c2VjcmV0' }
    await run('/Bot/writes/$execute', json({ ...binary, securityContext: { reference: 'Patient/hidden' } }))
    const token = await tokenFor(undefined, ['user/Bot.r', 'user/Binary.cruds'])
    const read = { type: 'Binary', id: 'secret' }
    expect((await run('/Bot/reads/$execute', { ...json(read), token })).status).toBe(204)
    expect((await run('/Bot/searches/$execute', { ...json({ query: 'Binary?_id=secret' }), token })).json).toEqual([])
    expect((await run('/Bot/writes/$execute', { ...json({ ...binary, data: 'eA==' }), token })).status).toBe(422)
    expect(at((await run('/Bot/reads/$execute', json(read))).json, 'data')).toBe('c2VjcmV0')
  })
  it('finds no more at once than a page of an answer may have', async () => {
    const language = 'x'.repeat(MAX_ANSWER / 10)
    for (let n = 0; n < 5; n++) await run('/Bot/writes/$execute', json({ resourceType: 'Group', id: `long${n}`, language }))
    const found = async (query: string): Promise<unknown> => {
      const { status, json: list } = await run('/Bot/searches/$execute', json({ query }))
      return Array.isArray(list) ? list.length : status
    }
    expect([await found('Group?_count=2'), await found('Group?_id=long3'), await found('Group')]).toEqual([2, 1, 422])
  })
  it('finds all that it asks for, also in a storage whose pages are shorter', async () => {
    for (let n = 0; n < 8; n++) await run('/Bot/writes/$execute', json({ resourceType: 'Device', id: `d${n}` }))
    const found = async (query: string): Promise<unknown> => at((await run('/Bot/searches/$execute', json({ query }))).json, 'length')
    expect([await found('Device'), await found('Device?_count=7')]).toEqual([8, 7])
  })
  it.each(['Device?_count=0', 'Device?_summary=count'])('finds none where only their number is asked for: %s', async (query) => {
    await run('/Bot/writes/$execute', json({ resourceType: 'Device', id: 'd0' }))
    expect((await run('/Bot/searches/$execute', json({ query }))).json).toEqual([])
  })
  it.each([...made.keys()])('stores no more than a request could: not %s', async (what) => {
    const reply = await run('/Bot/makes/$execute', json({ what }))
    expect(reply.text).toMatch(/^(body|parameter)-/)
  })
})
