import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHandler, type Handler } from '@fhir-ops/handler'
import { createMcpHandler } from '@fhir-ops/mcp'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { storageLayer } from 'fhir-ops/content'
import { createCache, createContext } from 'fhir-ops/context'
import { botResponse, createBots, type BotContext, type BotRuntime } from 'fhir-ops/execute'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions, type Sessions } from 'fhir-ops/sessions'
import { putResource, type SessionStore, type Storage } from 'fhir-ops/storage'
import { tenantSessionStore, tenantStorage } from 'fhir-ops/tenants'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED } from '../../../postgres/test/test-database.js'

const release = r4()
const SCOPES = ['openid', 'system/*.cruds', 'system/Bot.cruds']
const SYSTEM = 'http://example.org/colours'

interface Tenant {
  readonly handler: Handler
  readonly mcp: (request: Request) => Promise<Response>
  readonly sessions: Sessions
  readonly token: string
}

/** It stands where the sandbox is: it tells what the bot's source says, and what its storage finds. */
const runtime: BotRuntime = { concurrency: 1, run: async ({ code }) => code, close: async () => {} }
const spy = { id: 'spy', run: async (_event: unknown, { storage }: BotContext) => botResponse({ body: await storage?.search('Patient') }) }

async function tenantOf(
  name: string,
  shared: { readonly storage: Storage; readonly sessions: SessionStore },
  cache = createCache(),
): Promise<Tenant> {
  const storage = tenantStorage(shared.storage, name)
  const sessions = createSessions({ store: tenantSessionStore(shared.sessions, name) })
  const definitions = [storageLayer(shared.storage, 'shared'), ...release.definitions]
  const limits = { operationTimeoutMs: 600_000 }
  const context = createContext({ ...release, storage, definitions, cache, limits })
  const baseUrl = `https://${name}.example.org`
  const handler = createHandler({
    context,
    indexer: release.indexer,
    sessions,
    bots: createBots({ runtime, hostBots: [spy] }),
    grantBotStorage: true,
    baseUrl,
    defaultPolicy: 'deny',
  })
  const { token } = await sessions.create({ user: 'ann', scopes: SCOPES })
  return { handler, mcp: createMcpHandler({ handler, context, baseUrl }), sessions, token }
}

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly token?: string
  readonly headers?: Record<string, string>
}

async function ask(
  { handler, ...tenant }: Tenant,
  path: string,
  { method = 'GET', body, token = tenant.token, headers }: Asked = {},
): Promise<Reply> {
  const url = `https://any.example.org${path.startsWith('/') ? path : `/fhir/R4/${path}`}`
  const type = { 'content-type': path.startsWith('/') ? 'application/json' : 'application/fhir+json' }
  const init = {
    method,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  const response = await handler(new Request(url, init))
  const text = await response.text()
  const json: unknown = text === '' ? {} : JSON.parse(text)
  return { status: response.status, text, json: isObject(json) ? json : { list: json } }
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly json: JsonObject
}

const colours = (codes: readonly string[]): object => ({
  resourceType: 'CodeSystem',
  id: 'colours',
  url: SYSTEM,
  status: 'active',
  content: 'complete',
  concept: codes.map((code) => ({ code })),
})
const COLOUR_SET = {
  resourceType: 'ValueSet',
  id: 'all',
  url: `${SYSTEM}/all`,
  status: 'active',
  compose: { include: [{ system: SYSTEM }] },
}
const IDENTIFIER = [{ system: 'urn:x', value: 'same' }]
const MAP = (target: string): object => ({
  resourceType: 'ConceptMap',
  id: 'map',
  url: 'http://example.org/map',
  status: 'active',
  group: [{ source: SYSTEM, target: SYSTEM, element: [{ code: 'red', target: [{ code: target, equivalence: 'equal' }] }] }],
})
const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  url: 'http://example.org/m',
  status: 'active',
  group: ['Patient', 'Observation?subject:Patient.family=secret'].map((expression) => ({
    population: [
      {
        code: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code: 'measure-population' }] },
        criteria: { language: 'application/x-fhir-query', expression },
      },
    ],
  })),
}
const PROFILE = {
  resourceType: 'StructureDefinition',
  id: 'p',
  url: 'http://example.org/p',
  name: 'P',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }] },
}

/** What tenant a has. Tenant b has resources of the same ids that say other things, and less. */
const OF_A: readonly object[] = [
  { resourceType: 'Patient', id: 'same', identifier: IDENTIFIER, name: [{ family: 'Secret' }] },
  { resourceType: 'Patient', id: 'only-a', name: [{ family: 'Secret' }], managingOrganization: { reference: 'Organization/only-a' } },
  { resourceType: 'Organization', id: 'only-a' },
  { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/same' } },
  colours(['red', 'secret-colour']),
  MAP('secret-colour'),
  MEASURE,
  PROFILE,
  { resourceType: 'Bot', id: 'bot', identifier: IDENTIFIER, code: 'secret of a' },
]
const OF_B: readonly object[] = [
  { resourceType: 'Patient', id: 'same', identifier: IDENTIFIER, name: [{ family: 'Open' }] },
  { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/same' } },
  { resourceType: 'Observation', id: 'hanging', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/only-a' } },
  colours(['red', 'green']),
  MAP('green'),
  MEASURE,
]

interface Parts {
  readonly storage: Storage
  readonly sessions: SessionStore
  close(): Promise<void>
}

async function sqliteFile(): Promise<Parts> {
  const file = join(tmpdir(), `fhir-ops-tenants-${crypto.randomUUID()}.db`)
  const { storage, sessions, close } = await openSqlite(file)
  return { storage, sessions, close: async () => (await close(), rm(file, { force: true })) }
}

const database = await sharedDatabase()

async function postgresSchema(): Promise<Parts> {
  const schema = await database.schema()
  const { storage, sessions, close } = await openPostgres(schema.pool(), UNHURRIED)
  return { storage, sessions, close: async () => (await close(), schema.drop()) }
}

describe.each<readonly [string, () => Promise<Parts>]>([
  ['memory', async () => ({ storage: memoryStorage(), sessions: memorySessionStore(), close: async () => {} })],
  ['SQLite', sqliteFile],
  ['PostgreSQL', postgresSchema],
])('tenants of one storage: %s', (_name, open) => {
  let shared: Parts
  let a: Tenant
  let b: Tenant
  beforeAll(async () => {
    shared = await open()
    const common = [{ ...colours(['red', 'blue']) }, COLOUR_SET].map((source) => ({ ...source }))
    for (const source of common) {
      const [type, id] = [stringAt(source, 'resourceType') ?? '', stringAt(source, 'id') ?? '']
      await shared.storage.write([putResource({ type, id, source }, release.indexer)])
    }
    const cache = createCache()
    a = await tenantOf('a', shared, cache)
    b = await tenantOf('b', shared, cache)
    for (const [tenant, resources] of [
      [a, OF_A],
      [b, OF_B],
    ] as const) {
      for (const resource of resources) {
        const { resourceType, id } = { resourceType: '', id: '', ...resource }
        expect((await ask(tenant, `${resourceType}/${id}`, { method: 'PUT', body: resource })).status).toBe(201)
      }
    }
  })
  afterAll(() => shared.close())

  const idsIn = ({ json }: Reply): unknown[] => objectsAt(json, 'entry').map((entry) => objectAt(entry, 'resource')?.['id'])
  const codesIn = ({ json }: Reply): unknown[] => objectsAt(objectAt(json, 'expansion'), 'contains').map(({ code }) => code)

  it.each([
    'Patient/only-a',
    'Patient/only-a/_history',
    'Patient/only-a/_history/1',
    'Organization/only-a',
    'StructureDefinition/p',
    'Bot/bot',
    'a.Patient/only-a',
    'Bot/bot/$execute',
    'Bot/$execute?identifier=urn:x%7Csame',
    'Patient/only-a/$validate',
  ])('%s of one is nothing to the other', async (path) => {
    const reply = await ask(b, path)
    expect([reply.status, reply.text.includes('secret')]).toEqual([404, false])
  })

  it.each([
    ['Patient', ['same']],
    ['Patient?family=secret', []],
    ['Patient?_id=only-a', []],
    ['Patient?identifier=urn:x%7Csame', ['same']],
    ['Observation?subject:Patient.family=secret', []],
    ['Observation?subject=Patient/only-a', ['hanging']],
    ['Observation?_id=hanging&_include=Observation:subject', ['hanging']],
    ['Patient?_has:Observation:subject:status=final', ['same']],
    ['Patient?_revinclude=Observation:subject', ['same', 'o']],
    ['Patient/same/Observation', ['o']],
    ['Patient/_history', ['same']],
    ['?_type=Patient,Organization,StructureDefinition', ['same']],
    ['Patient/only-a/*', ['hanging']],
  ])('%s finds one’s own: %j', async (path, expected) => {
    const reply = await ask(b, path)
    expect([idsIn(reply), reply.text.includes('Secret'), reply.text.includes('a.Patient')]).toEqual([expected, false, false])
  })

  it('everything that ever was is of one tenant only', async () => {
    const { text } = await ask(b, '_history?_count=1000')
    expect([text.includes('Open'), /Secret|secret-colour|secret of a/.test(text)]).toEqual([true, false])
  })

  it('cursors lead to nothing of another', async () => {
    const next = objectsAt((await ask(a, 'Patient?_count=1')).json, 'link').find(({ relation }) => relation === 'next')
    const cursor = new URL(String(next?.['url'])).searchParams.get('_cursor') ?? ''
    expect(idsIn(await ask(b, `Patient?_count=1&_cursor=${encodeURIComponent(cursor)}`))).toEqual(['same'])
  })

  it('canonicals resolve to one’s own before the shared, also from a shared cache', async () => {
    const path = `ValueSet/$expand?url=${SYSTEM}/all`
    expect([codesIn(await ask(a, path)), codesIn(await ask(b, path)), codesIn(await ask(a, path))]).toEqual([
      ['red', 'secret-colour'],
      ['red', 'green'],
      ['red', 'secret-colour'],
    ])
    const c = await tenantOf('c', shared)
    expect(codesIn(await ask(c, path))).toEqual(['red', 'blue'])
  })

  it.each([
    ['ConceptMap/$translate?url=http://example.org/map&system=http://example.org/colours&code=red', 'secret-colour', 'green'],
    ['CodeSystem/$validate-code?url=http://example.org/colours&code=secret-colour', '"valueBoolean":true', '"valueBoolean":false'],
    ['Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026', '"count":2', '"count":1'],
  ])('%s answers from one’s own', async (path, atA, atB) => {
    const [first, second] = [await ask(a, path), await ask(b, path)]
    expect([first.text.includes(atA), second.text.includes(atA), second.text.includes(atB)]).toEqual([true, false, true])
  })

  it('a measure counts what chains reach of one’s own', async () => {
    const { json } = await ask(b, 'Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026')
    expect(objectsAt(json, 'group').map((group) => objectsAt(group, 'population')[0]?.['count'])).toEqual([1, 0])
  })

  it('profiles of one are unknown to the other', async () => {
    const body = { resourceType: 'Patient' }
    const path = 'Patient/$validate?profile=http://example.org/p'
    const [first, second] = [await ask(a, path, { method: 'POST', body }), await ask(b, path, { method: 'POST', body })]
    expect([first.status, first.text.includes('birthDate'), second.status]).toEqual([200, true, 400])
  })

  it('schemas of profiles of one are unknown to the other', async () => {
    const schemaFor = async ({ mcp, token }: Tenant): Promise<string> => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const params = { name: 'json_schema', arguments: { url: 'http://example.org/p' } }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      return (await mcp(new Request('https://any.example.org/mcp', { method: 'POST', headers, body }))).text()
    }
    expect(await schemaFor(a)).toContain('"structuredContent"')
    expect(await schemaFor(b)).toContain('"isError":true')
  })

  it('closure tables of the same name are two', async () => {
    const table = (code: string): object => ({
      resourceType: 'Parameters',
      parameter: [
        { name: 'name', valueString: 'table' },
        { name: 'concept', valueCoding: { system: SYSTEM, code } },
      ],
    })
    const made = { resourceType: 'Parameters', parameter: [{ name: 'name', valueString: 'table' }] }
    for (const tenant of [a, b]) expect((await ask(tenant, '$closure', { method: 'POST', body: made })).status).toBe(200)
    expect((await ask(a, '$closure', { method: 'POST', body: table('secret-colour') })).status).toBe(200)
    const kept = await ask(b, 'Basic?_count=1000')
    expect([idsIn(kept).length, kept.text.includes('secret')]).toEqual([1, false])
  })

  it('bots see one’s own', async () => {
    const { list } = (await ask(b, 'Bot/spy/$execute')).json
    expect(JSON.stringify(list)).toContain('Open')
    expect(JSON.stringify(list)).not.toContain('Secret')
  })

  it('writes touch one’s own', async () => {
    const body = { resourceType: 'Patient', id: 'only-a', name: [{ family: 'B' }] }
    expect((await ask(b, 'Patient/only-a', { method: 'PUT', body, headers: { 'if-match': 'W/"1"' } })).status).toBe(412)
    expect((await ask(b, 'Patient/only-a', { method: 'DELETE' })).status).toBe(204)
    expect((await ask(b, 'Patient?family=secret', { method: 'DELETE' })).status).toBe(204)
    const created = await ask(b, 'Patient', { method: 'POST', body, headers: { 'if-none-exist': 'family=secret' } })
    expect(created.status).toBe(201)
    expect((await ask(b, `Patient/${stringAt(created.json, 'id')}`, { method: 'DELETE' })).status).toBe(204)
    const entry = [{ request: { method: 'DELETE', url: 'Patient/only-a' } }]
    expect((await ask(b, '', { method: 'POST', body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    expect(objectsAt((await ask(a, 'Patient/only-a')).json, 'name')).toEqual([{ family: 'Secret' }])
  })

  it('tokens, sessions and users are of one tenant', async () => {
    for (const path of ['Patient', '/oauth2/userinfo', '/auth/me']) expect((await ask(b, path, { token: a.token })).status).toBe(401)
    const logout = await ask(b, '/oauth2/logout', { method: 'POST', token: a.token })
    const [session] = await a.sessions.list('ann')
    const revoked = await ask(b, '/auth/revoke', { method: 'POST', body: { loginId: session?.loginId } })
    expect([logout.status, revoked.status]).toEqual([401, 404])
    const others = await ask(b, '/auth/revoke', { method: 'POST', body: { others: true } })
    expect([others.status, objectsAt((await ask(b, '/auth/me')).json, 'sessions').length]).toEqual([200, 1])
    await b.sessions.signOutEverywhere('ann')
    expect([await b.sessions.disable(session?.loginId ?? ''), await b.sessions.delete(session?.loginId ?? '')]).toEqual([false, false])
    expect([(await ask(a, 'Patient')).status, (await ask(b, 'Patient')).status]).toEqual([200, 401])
    await expect(createSessions({ store: shared.sessions }).verify(a.token)).rejects.toMatchObject({ code: 'token-invalid' })
  })

  it('what belongs to tenants is not found beside them', async () => {
    const everything = { kind: 'and', conditions: [] } as const
    expect(await shared.storage.count({ type: 'Patient', where: everything })).toBe(0)
    expect(await shared.storage.read('Patient', 'same')).toBeUndefined()
  })
})
