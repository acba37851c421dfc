import { gzipSync } from 'node:zlib'
import { allMatches, type SearchQuery, type Storage } from 'fhir-ops/storage'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { TLS_FAULTS } from '../../../test/tls-faults.js'
import { bytes, json, startScriptedServer, type Behaviour, type ScriptedServer } from '../test/scripted-server.js'
import { httpStorage, type HttpStorageOptions } from './index.js'

const PATIENT = { resourceType: 'Patient', id: 'a', meta: { versionId: '3', lastUpdated: '2024-01-01T00:00:00Z' } }
const QUERY: SearchQuery = {
  type: 'Patient',
  where: { kind: 'and', conditions: [] },
  parameters: [
    ['gender', 'male'],
    ['name', 'Ann'],
  ],
}
const SELF = { relation: 'self', url: 'Patient?gender=male&name=Ann' }
const SECRET = 'upstream-says-this'

let server: ScriptedServer
let elsewhere: ScriptedServer
beforeAll(async () => {
  server = await startScriptedServer()
  elsewhere = await startScriptedServer()
})
afterAll(async () => {
  await server.stop()
  await elsewhere.stop()
})
beforeEach(() => {
  server.requests.length = 0
  elsewhere.requests.length = 0
})
afterEach(() => vi.useRealTimers())

/** More than a test may take: what waits for a time limit where it need not is found. */
const NEVER_MS = 1_000_000

function storage(options: Partial<HttpStorageOptions> = {}): Storage {
  return httpStorage({
    baseUrl: server.baseUrl,
    token: 'our-secret',
    timeoutMs: NEVER_MS,
    maxAnswerBytes: 100_000,
    history: true,
    ...options,
  })
}

function searchset(content: object): object {
  return { resourceType: 'Bundle', type: 'searchset', link: [SELF], ...content }
}

function historySet(entry: object, link = { relation: 'self', url: 'Patient/a/_history?_since=1970-01-01T00:00:00.000Z' }): object {
  return { resourceType: 'Bundle', type: 'history', link: [link], entry: [{ request: { method: 'PUT', url: 'Patient/a' }, ...entry }] }
}

type Call = (storage: Storage) => Promise<unknown>

const read: Call = async (calls) => calls.read('Patient', 'a')
const search: Call = async (calls) => calls.search(QUERY)
const count: Call = async (calls) => calls.count(QUERY)
const version: Call = async (calls) => calls.history?.version('Patient', 'a', '3')
const history: Call = async (calls) => calls.history?.page({ types: ['Patient'], id: 'a', since: 0, limit: 1 })
const put: Call = async (calls) =>
  calls.write([{ op: 'put', type: 'Patient', id: 'a', text: '{"resourceType":"Patient","id":"a","meta":{}}', entries: [] }])
const replace: Call = async (calls) =>
  calls.write([{ op: 'put', type: 'Patient', id: 'a', text: '{"resourceType":"Patient","id":"a","meta":{}}', entries: [], ifVersion: '1' }])
const remove: Call = async (calls) => calls.write([{ op: 'delete', type: 'Patient', id: 'a' }])

const UNAVAILABLE = 'storage-unavailable'
const TIMEOUT = 'storage-timeout'

const CASES: readonly (readonly [name: string, call: Call, behave: Behaviour, code: string])[] = [
  ['never answers', read, () => undefined, TIMEOUT],
  [
    'sends headers and then nothing',
    read,
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
    TIMEOUT,
  ],
  ['sends a byte now and then', read, dripping, TIMEOUT],
  ['never answers a write', put, () => undefined, TIMEOUT],
  ['hangs up at once', read, (request) => void request.socket.destroy(), UNAVAILABLE],
  ['hangs up within its answer', read, truncated, UNAVAILABLE],
  ['hangs up within a write', put, (request) => void request.socket.destroy(), UNAVAILABLE],
  ['speaks no HTTP', read, (request) => void request.socket.end('SSH-2.0-nothing\r\n'), UNAVAILABLE],
  ['refuses our token (401)', read, json({ secret: SECRET }, 401), UNAVAILABLE],
  ['forbids us (403)', read, json({ secret: SECRET }, 403), UNAVAILABLE],
  ['fails (500)', read, json({ secret: SECRET }, 500), UNAVAILABLE],
  ['fails a write (500)', put, json({ secret: SECRET }, 500), UNAVAILABLE],
  ['fails with a page (502)', read, bytes(`<h1>${SECRET}</h1>`, { 'content-type': 'text/html' }, 502), UNAVAILABLE],
  ['is busy (429)', read, json({}, 429), UNAVAILABLE],
  ['is busy (503)', search, json({}, 503), UNAVAILABLE],
  ['sends garbage', read, bytes(`{{{ ${SECRET}`), UNAVAILABLE],
  ['sends JSON cut short', read, bytes(JSON.stringify(PATIENT).slice(0, -5)), UNAVAILABLE],
  ['sends nothing', read, bytes(''), UNAVAILABLE],
  ['sends an array', read, json([PATIENT]), UNAVAILABLE],
  ['sends HTML', read, bytes(`<html>${SECRET}</html>`, { 'content-type': 'text/html' }), UNAVAILABLE],
  ['sends JSON that it calls HTML', read, bytes(JSON.stringify(PATIENT), { 'content-type': 'text/html' }), UNAVAILABLE],
  ['sends bytes that are not UTF-8', read, bytes(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])), UNAVAILABLE],
  ['sends a member twice', read, bytes('{"resourceType":"Patient","id":"b","id":"a"}'), UNAVAILABLE],
  ['sends a member named as objects have', read, bytes('{"resourceType":"Patient","id":"a","__proto__":{}}'), UNAVAILABLE],
  ['sends half a character', read, bytes('{"resourceType":"Patient","id":"a","x":"\\ud800"}'), UNAVAILABLE],
  ['sends a NUL', read, bytes('{"resourceType":"Patient","id":"a","x":["\\u0000"]}'), UNAVAILABLE],
  ['sends a number beyond all', read, bytes('{"resourceType":"Patient","id":"a","x":1e999}'), UNAVAILABLE],
  ['sends JSON a thousand levels deep', read, bytes(`${'['.repeat(1_000)}${']'.repeat(1_000)}`), UNAVAILABLE],
  [
    'announces more than the limit',
    read,
    (_, response) => response.writeHead(200, { 'content-length': '200000' }).flushHeaders(),
    UNAVAILABLE,
  ],
  ['sends without end', read, endless, UNAVAILABLE],
  ['compresses a lot into little', read, bytes(gzipSync(' '.repeat(10_000_000)), { 'content-encoding': 'gzip' }), UNAVAILABLE],
  ['compresses and stops', read, bytes(gzipSync(JSON.stringify(PATIENT)).subarray(0, 20), { 'content-encoding': 'gzip' }), UNAVAILABLE],
  ['says that it compresses, and does not', read, bytes(JSON.stringify(PATIENT), { 'content-encoding': 'gzip' }), UNAVAILABLE],
  ['sends headers without end', read, json(PATIENT, 200, { 'x-long': 'x'.repeat(200_000) }), UNAVAILABLE],
  ['sends a part (206)', read, json(PATIENT, 206), UNAVAILABLE],
  ['has no content (204)', read, (_, response) => void response.writeHead(204).end(), UNAVAILABLE],
  ['redirects', read, (_, response) => void response.writeHead(302, { location: `${elsewhere.baseUrl}/Patient/a` }).end(), UNAVAILABLE],
  [
    'redirects a write',
    put,
    (_, response) => void response.writeHead(307, { location: `${elsewhere.baseUrl}/Patient/a` }).end(),
    UNAVAILABLE,
  ],
  ['says that nothing changed (304)', read, bytes('', {}, 304), UNAVAILABLE],
  ['sends another type', read, json({ ...PATIENT, resourceType: 'Group' }), UNAVAILABLE],
  ['sends another id', read, json({ ...PATIENT, id: 'b' }), UNAVAILABLE],
  ['sends a version that is not a text', read, json({ ...PATIENT, meta: { versionId: 3 } }), UNAVAILABLE],
  ['sends a version that breaks a header', read, json({ ...PATIENT, meta: { versionId: '3"\r\nx: y' } }), UNAVAILABLE],
  ['sends an outcome instead', read, json({ resourceType: 'OperationOutcome', issue: [] }), UNAVAILABLE],
  ['refuses to give it (400)', read, json({ secret: SECRET }, 400), UNAVAILABLE],
  ['knows no such search (404)', search, json({ secret: SECRET }, 404), UNAVAILABLE],
  ['sends no searchset', search, json({ ...searchset({}), type: 'batch-response' }), UNAVAILABLE],
  ['finds another type', search, json(searchset({ entry: [{ resource: { ...PATIENT, resourceType: 'Group' } }] })), UNAVAILABLE],
  ['finds a resource without id', search, json(searchset({ entry: [{ resource: { resourceType: 'Patient' } }] })), UNAVAILABLE],
  ['finds a resource twice', search, json(searchset({ entry: [{ resource: PATIENT }, { resource: PATIENT }] })), UNAVAILABLE],
  [
    'reports within its results that something went wrong',
    search,
    json(
      searchset({
        entry: [
          { resource: PATIENT },
          { search: { mode: 'outcome' }, resource: { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code: 'timeout' }] } },
        ],
      }),
    ),
    UNAVAILABLE,
  ],
  ['finds something that is not a list', search, json(searchset({ entry: { resource: PATIENT } })), UNAVAILABLE],
  ['finds nothing in an entry', search, json(searchset({ entry: [null] })), UNAVAILABLE],
  ['finds an id that is none', search, json(searchset({ entry: [{ resource: { ...PATIENT, id: '../b' } }] })), UNAVAILABLE],
  ['drops a parameter of a search', search, json(searchset({ link: [{ relation: 'self', url: 'Patient?gender=male' }] })), UNAVAILABLE],
  [
    'drops a parameter of a count',
    count,
    json(searchset({ total: 9, link: [{ relation: 'self', url: 'Patient?gender=male' }] })),
    UNAVAILABLE,
  ],
  ['does not tell what it searched for', search, json(searchset({ link: [] })), UNAVAILABLE],
  ['counts to a text', count, json(searchset({ total: '12' })), UNAVAILABLE],
  ['counts below nothing', count, json(searchset({ total: -1 })), UNAVAILABLE],
  ['counts to a fraction', count, json(searchset({ total: 1.5 })), UNAVAILABLE],
  ['does not count', count, json(searchset({})), UNAVAILABLE],
  ['links to another server', search, (...all) => linking(`${elsewhere.baseUrl}/Patient?page=2`)(...all), UNAVAILABLE],
  [
    'links to a server whose name begins as its own',
    search,
    (...all) => linking(`${server.baseUrl}.evil.example/Patient`)(...all),
    UNAVAILABLE,
  ],
  ['links to another port by its credentials', search, (...all) => linking(server.baseUrl.replace('//', '//me:x@'))(...all), UNAVAILABLE],
  ['links above its base', search, linking('../admin?page=2'), UNAVAILABLE],
  ['links above its base in disguise', search, linking('%2e%2e/admin'), UNAVAILABLE],
  ['links to another server by backslashes', search, linking(String.raw`\\evil.example\fhir`), UNAVAILABLE],
  ['links to a file', search, linking('file:///etc/passwd'), UNAVAILABLE],
  [
    'sends a longer page than was asked for',
    async (calls) => calls.search({ ...QUERY, limit: 1 }),
    json(searchset({ entry: [{ resource: PATIENT }, { resource: { ...PATIENT, id: 'b' } }] })),
    UNAVAILABLE,
  ],
  ['fails a version (500)', version, json({ secret: SECRET }, 500), UNAVAILABLE],
  ['sends another version', version, json({ ...PATIENT, meta: { versionId: '4' } }), UNAVAILABLE],
  ['sends another id for a version', version, json({ ...PATIENT, id: 'b' }), UNAVAILABLE],
  [
    'refuses the history of what it says was deleted',
    version,
    (request, response) => json({ secret: SECRET }, request.url?.endsWith('/3') ? 410 : 400)(request, response),
    UNAVAILABLE,
  ],
  ['refuses a history (400)', history, json({ secret: SECRET }, 400), UNAVAILABLE],
  ['sends a searchset for a history', history, json(searchset({})), UNAVAILABLE],
  [
    'passes over the time since when',
    history,
    json(historySet({ resource: PATIENT }, { relation: 'self', url: 'Patient/a/_history' })),
    UNAVAILABLE,
  ],
  ['sends the history of another resource', history, json(historySet({ resource: { ...PATIENT, id: 'b' } })), UNAVAILABLE],
  ['sends a version without its resource', history, json(historySet({})), UNAVAILABLE],
  ['sends a resource without type in a history', history, json(historySet({ resource: { id: 'a' } })), UNAVAILABLE],
  [
    'does not tell what was deleted',
    history,
    json(historySet({ request: { method: 'DELETE', url: '../a' }, response: { etag: 'W/"3"' } })),
    UNAVAILABLE,
  ],
  ['does not tell the version of a deletion', history, json(historySet({ request: { method: 'DELETE', url: 'Patient/a' } })), UNAVAILABLE],
  [
    'sends a history that is longer than was asked for',
    history,
    json({
      ...historySet({}),
      entry: [
        { request: { method: 'PUT' }, resource: PATIENT },
        { request: { method: 'PUT' }, resource: PATIENT },
      ],
    }),
    UNAVAILABLE,
  ],
  [
    'links from a history to another server',
    history,
    (...all) =>
      json({
        ...historySet({ resource: PATIENT }),
        link: [
          { relation: 'self', url: '?_since=1' },
          { relation: 'next', url: elsewhere.baseUrl },
        ],
      })(...all),
    UNAVAILABLE,
  ],
  ['writes without telling the version', put, json({ ...PATIENT, meta: {} }), UNAVAILABLE],
  ['writes a version that no header may have', put, json({ ...PATIENT, meta: { versionId: 'a"\r\nX: é' } }), UNAVAILABLE],
  ['writes a version that is a number', put, json({ ...PATIENT, meta: { versionId: 5 } }), UNAVAILABLE],
  ['writes another resource', put, json({ ...PATIENT, id: 'b' }, 201, { etag: 'W/"1"' }), UNAVAILABLE],
  ['writes another type', put, json({ ...PATIENT, resourceType: 'Group' }, 200, { etag: 'W/"1"' }), UNAVAILABLE],
  ['will write some time (202)', put, json({}, 202), UNAVAILABLE],
  ['writes and does not say what (204)', put, (_, response) => void response.writeHead(204).end(), UNAVAILABLE],
  ['will delete some time (202)', remove, json({}, 202), UNAVAILABLE],
  [
    'is hidden by a proxy with another path (404), for a deletion',
    remove,
    bytes('<html>', { 'content-type': 'text/html' }, 404),
    UNAVAILABLE,
  ],
  ['is hidden by a proxy with another path (404), for a read', read, bytes('<html>', { 'content-type': 'text/html' }, 404), UNAVAILABLE],
  ['is hidden by a gateway that knows no such route (404), for a read', read, json({ message: 'no route' }, 404), UNAVAILABLE],
  [
    'is hidden by a proxy with another path (404), for a version',
    version,
    bytes('<html>', { 'content-type': 'text/html' }, 404),
    UNAVAILABLE,
  ],
  ['is hidden by a gateway that knows no such route (404), for a version', version, json({ message: 'no route' }, 404), UNAVAILABLE],
  [
    'is hidden by a proxy with another path (404), for a history',
    history,
    bytes('<html>', { 'content-type': 'text/html' }, 404),
    UNAVAILABLE,
  ],
  ['is hidden by a gateway that knows no such route (404), for a history', history, json({ message: 'no route' }, 404), UNAVAILABLE],
  [
    'is hidden by a page that something is gone (410), for a read',
    read,
    bytes('<html>', { 'content-type': 'text/html' }, 410),
    UNAVAILABLE,
  ],
  ['is hidden by a gateway that knows no such route (404), for a deletion', remove, json({ message: 'no route' }, 404), UNAVAILABLE],
  ['is hidden by a page to log in at (200), for a deletion', remove, bytes('<html>', { 'content-type': 'text/html' }), UNAVAILABLE],
  [
    'is hidden by a proxy with another path (404), for an update',
    replace,
    bytes('<html>', { 'content-type': 'text/html' }, 404),
    UNAVAILABLE,
  ],
  ['has no place for a resource (404)', put, json({ secret: SECRET }, 404), 'not-supported'],
  ['refuses a resource (422)', put, json({ secret: SECRET }, 422), 'resource-invalid'],
  ['sees a conflict (409)', put, json({ secret: SECRET }, 409), 'conflict'],
  ['takes no writes (405)', put, json({ secret: SECRET }, 405), 'not-supported'],
]

describe('an upstream that', () => {
  for (const [name, call, behave, code] of CASES) {
    it(`${name} fails the call with ${code} and shows nothing of itself`, async () => {
      server.behave = behave
      const calls = storage({ timeoutMs: code === TIMEOUT ? 300 : NEVER_MS })
      const error: unknown = await call(calls).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toMatchObject({ name: 'OperationError', code })
      const shown = `${error} ${JSON.stringify(error)} ${String((error as Error).stack)} ${String((error as Error).cause)}`
      for (const hidden of [SECRET, 'our-secret', server.origin, server.origin.slice(7)]) expect(shown).not.toContain(hidden)
      expect(elsewhere.requests).toEqual([])
      expect(server.requests.length).toBeLessThanOrEqual([put, replace, remove].includes(call) ? 1 : 3)
    })
  }

  it.each([404, 410])('has no such resource (%d), and says so in an outcome or without a body, has deleted it', async (status) => {
    for (const behave of [json({ resourceType: 'OperationOutcome' }, status), bytes('', {}, status)]) {
      server.behave = behave
      expect(await remove(storage())).toMatchObject([{ type: 'Patient', id: 'a', created: false }])
    }
  })

  it('has no such resource (404), and says so in an outcome or without a body, has none to read', async () => {
    for (const behave of [json({ resourceType: 'OperationOutcome' }, 404), bytes('', {}, 404)]) {
      server.behave = behave
      const calls = storage()
      expect([await read(calls), await version(calls), await history(calls)]).toEqual([undefined, undefined, { items: [] }])
    }
  })

  it('keeps no versions gives some that change with the content', async () => {
    const versions: unknown[] = []
    for (const gender of ['male', 'female', 'male']) {
      const patient = { resourceType: 'Patient', id: 'a', gender }
      server.behave = json(patient)
      versions.push((await storage().read('Patient', 'a'))?.versionId)
      server.behave = json(searchset({ entry: [{ resource: patient }] }))
      versions.push((await storage().search(QUERY)).items[0]?.versionId)
    }
    const [male, , female] = versions
    expect(female).not.toBe(male)
    expect(versions).toEqual([male, male, female, female, male, male])
  })

  it('links from page to page in a circle is left after maxPages', async () => {
    server.behave = (request, response) =>
      linking(`${server.baseUrl}/Patient?page=${request.url?.endsWith('1') ? 2 : 1}`)(request, response)
    const paging = storage({ maxPages: 10 })
    const all = async (): Promise<void> => {
      let page = await paging.search(QUERY)
      while (page.next !== undefined) page = await paging.search({ ...QUERY, after: page.next })
    }
    await expect(all()).rejects.toMatchObject({ code: UNAVAILABLE })
    expect(server.requests.length).toBe(10)
  })

  it('hangs up within its answer or before, says to the writer that the write may have been carried out', async () => {
    const ways: readonly Behaviour[] = [truncated, (request) => void request.socket.destroy()]
    for (const behave of ways) {
      server.behave = behave
      const hungUp = 'The upstream FHIR server hung up before its answer was complete'
      await expect(read(storage())).rejects.toThrow(`${hungUp}.`)
      await expect(put(storage())).rejects.toThrow(`${hungUp}, and may have carried out the request.`)
    }
  })

  it('finds a resource again on a later page fails what reads all pages, because others may be on none', async () => {
    const pages: readonly Behaviour[] = [
      linking('Patient?page=2'),
      linking('Patient?page=3', 'b'),
      json(searchset({ entry: [{ resource: PATIENT }] })),
    ]
    server.behave = (request, response) => pages[Number(/page=(\d)/.exec(request.url ?? '')?.[1] ?? 1) - 1]?.(request, response)
    const found: string[] = []
    const all = async (): Promise<void> => {
      for await (const { id } of allMatches(storage(), QUERY)) found.push(id)
    }
    await expect(all()).rejects.toMatchObject({ code: UNAVAILABLE, message: expect.stringContaining('on two pages') })
    expect(found).toEqual(['a', 'b'])
  })

  it('links from a page to itself is left at once', async () => {
    server.behave = linking('Patient?page=2')
    const paging = storage()
    const { next } = await paging.search(QUERY)
    await expect(paging.search({ ...QUERY, after: next ?? '' })).rejects.toMatchObject({ code: UNAVAILABLE })
  })
})

describe('an upstream by TLS', () => {
  it.each(TLS_FAULTS)('that %s cannot be reached, and hears nothing of us', async (_, start) => {
    const { origin, stop } = await start()
    const calls = storage({ baseUrl: `${origin}/fhir` })
    for (const call of [read, put]) {
      const error: unknown = await call(calls).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: UNAVAILABLE, message: 'The upstream FHIR server cannot be reached.' })
    }
    await stop()
  })
})

describe('calls to an upstream in trouble', () => {
  it('a GET is tried again at most twice while the upstream is busy, and then may succeed', async () => {
    let tries = 0
    server.behave = (...all) => (++tries < 3 ? json({}, 503) : json(PATIENT))(...all)
    expect(await read(storage())).toMatchObject({ versionId: '3', lastUpdated: '2024-01-01T00:00:00.000Z' })
    server.requests.length = 0
    server.behave = json({}, 429)
    await expect(read(storage())).rejects.toMatchObject({ code: UNAVAILABLE })
    expect(server.requests).toHaveLength(3)
  })

  it('a write is never repeated', async () => {
    server.behave = json({}, 503)
    await expect(put(storage())).rejects.toMatchObject({ code: UNAVAILABLE })
    expect(server.requests).toEqual(['PUT /fhir/Patient/a'])
  })

  it.each([
    ['100', 100],
    ['86400', 120],
    ['99999999999999999999', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['100, 100', undefined],
    [new Date(Date.now() + 3_600_000).toUTCString(), 120],
    ['soon', undefined],
  ])('Retry-After: %s is passed on as %s seconds, and nobody waits for it here', async (header, seconds) => {
    server.behave = json({}, 503, { 'retry-after': header })
    const error: unknown = await storage({ timeoutMs: 90_000 })
      .read('Patient', 'a')
      .then(
        () => undefined,
        (reason: unknown) => reason,
      )
    expect(error).toMatchObject({ code: UNAVAILABLE })
    expect((error as { detail: { retryAfterSeconds?: number } }).detail.retryAfterSeconds).toBe(seconds)
  })

  it('after five failures it is left alone, asked once every two seconds, and used again when it answers', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const calls = storage()
    const asked = async (): Promise<number> => {
      server.requests.length = 0
      for (let call = 0; call < 20; call++) await expect(read(calls)).rejects.toMatchObject({ code: UNAVAILABLE })
      return server.requests.length
    }
    server.behave = json({}, 500)
    expect(await asked()).toBe(5)
    vi.advanceTimersByTime(1_999)
    expect(await asked()).toBe(0)
    vi.advanceTimersByTime(1)
    expect(await asked()).toBe(1)
    server.behave = json(PATIENT)
    expect(await asked()).toBe(0)
    vi.advanceTimersByTime(2_000)
    for (let call = 0; call < 3; call++) expect(await read(calls)).toBeDefined()
    expect(server.requests).toHaveLength(3)
  })

  it('refusals are answers, and do not count as failures', async () => {
    const calls = storage()
    server.behave = json({}, 412)
    const write = async (): Promise<unknown> => calls.write([{ op: 'delete', type: 'Patient', id: 'a', ifVersion: '1' }])
    for (let call = 0; call < 8; call++) await expect(write()).rejects.toMatchObject({ code: 'version-conflict' })
    expect(server.requests).toHaveLength(8)
  })
})

describe('what is sent to the upstream', () => {
  it('is asked to be handled strictly, with our token', async () => {
    let headers: Record<string, unknown> = {}
    server.behave = (request, response) => {
      headers = request.headers
      json(PATIENT)(request, response)
    }
    await read(storage())
    expect(headers).toMatchObject({ prefer: 'handling=strict', accept: 'application/fhir+json', authorization: 'Bearer our-secret' })
  })

  it.each([
    ['Patient', '../metadata'],
    ['Patient', 'a/../../admin'],
    ['Patient', 'a?x=1'],
    ['../Patient', 'a'],
    ['constructor', 'a'],
    ['http://127.0.0.1:1/', 'a'],
  ])('no request for %s/%s leaves', async (type, id) => {
    const calls = storage()
    // A type with a slash is an address, which a read refuses by name.
    if (type.includes('/')) await expect(calls.read(type, id)).rejects.toMatchObject({ code: 'parameter-value', expression: ['type'] })
    else expect(await calls.read(type, id)).toBeUndefined()
    await expect(calls.write([{ op: 'delete', type, id }])).rejects.toMatchObject({ code: 'resource-invalid' })
    if (type !== 'Patient') expect(await calls.count({ type, where: QUERY.where, parameters: [] })).toBe(0)
    expect(server.requests).toEqual([])
  })

  it('has values encoded, whatever they are', async () => {
    server.behave = json(searchset({ link: [{ relation: 'self', url: `?${new URLSearchParams({ name: 'a&b=c#d/é' })}` }] }))
    await storage().search({ ...QUERY, parameters: [['name', 'a&b=c#d/é']] })
    expect(server.requests).toEqual([`GET /fhir/Patient?${new URLSearchParams({ name: 'a&b=c#d/é' })}`])
  })

  it('has no header made of a version that is none', async () => {
    await expect(storage().write([{ op: 'delete', type: 'Patient', id: 'a', ifVersion: '1"\r\nx: y' }])).rejects.toMatchObject({
      code: 'version-conflict',
    })
    expect(server.requests).toEqual([])
  })

  it('a cursor for another query, or a made-up one, leads nowhere', async () => {
    server.behave = linking('Patient?page=2')
    const calls = storage()
    const { next = '' } = await calls.search(QUERY)
    const forged = `${Buffer.from(JSON.stringify([1, `${server.baseUrl}/Group`])).toString('base64url')}.${next.split('.')[1]}`
    server.requests.length = 0
    await expect(calls.search({ ...QUERY, parameters: [], after: next })).rejects.toMatchObject({ code: 'search-invalid' })
    await expect(calls.search({ ...QUERY, after: forged })).rejects.toMatchObject({ code: 'search-invalid' })
    expect(server.requests).toEqual([])
  })
})

function dripping(_: unknown, response: Parameters<Behaviour>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

function truncated(_: unknown, response: Parameters<Behaviour>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"resourceType":', () => response.destroy())
}

function endless(_: unknown, response: Parameters<Behaviour>[1]): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(10_000))) continue
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

function linking(url: string, id = 'a'): Behaviour {
  return json(searchset({ entry: [{ resource: { ...PATIENT, id } }], link: [SELF, { relation: 'next', url }] }))
}
