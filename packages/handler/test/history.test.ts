import type { ContentLayer } from 'fhir-ops/content'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { putResource, type PutEntry, type Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { askFhir, at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
const indexer = createIndexer(parameters)
let running: RunningServer
let day: number

beforeEach(async () => {
  day = 0
  const storage = memoryStorage([], { now: () => new Date(Date.UTC(2024, 0, day)) })
  running = await startServer({ storage, context: createContext({ storage, search: { parameters } }) })
  await put('one', 'male')
  await put('two', 'male')
  await put('one', 'female')
  await ask('DELETE', '/Patient/two')
})
afterEach(() => running.stop())

interface Asked {
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly token?: string
}

function ask(method: string, path: string, { body, headers, token }: Asked = {}): Promise<Reply> {
  if (method !== 'GET') day++
  const all = { ...fhirHeaders(token ?? running.token), ...headers }
  return send(`${running.base}/fhir/R4${path}`, { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

const put = (id: string, gender: string): Promise<Reply> => ask('PUT', `/Patient/${id}`, { body: { resourceType: 'Patient', id, gender } })
const stored = (id: string): PutEntry => putResource({ type: 'Patient', id, source: { resourceType: 'Patient', id } }, indexer)
const tokenFor = async (...scopes: readonly string[]): Promise<string> =>
  (await running.sessions.create({ user: { sub: 'ann' }, scopes })).token
const entries = ({ json }: Reply): readonly unknown[] => {
  const found = at(json, 'entry')
  return Array.isArray(found) ? found : []
}
const brief = (entry: unknown): string =>
  `${at(entry, 'request', 'method')} ${at(entry, 'request', 'url')} ${at(entry, 'response', 'status')} ${at(entry, 'response', 'etag')}`
const linkTo = ({ json }: Reply, relation: string): string | undefined => {
  const links = at(json, 'link')
  const link = Array.isArray(links) ? links.find((each) => at(each, 'relation') === relation) : undefined
  return link === undefined ? undefined : String(at(link, 'url'))
}

describe('a version', () => {
  it('is read after it was replaced', async () => {
    const old = await ask('GET', '/Patient/one/_history/1')
    expect([old.status, old.headers.etag, at(old.json, 'gender'), at(old.json, 'meta', 'versionId')]).toEqual([200, 'W/"1"', 'male', '1'])
    expect(at((await ask('GET', '/Patient/one/_history/2')).json, 'gender')).toBe('female')
    expect((await ask('GET', '/Patient/one/_history/3')).status).toBe(404)
  })

  it('of a deletion is gone, those before it are still there', async () => {
    const gone = await ask('GET', '/Patient/two/_history/2')
    expect([gone.status, at(gone.json, 'issue', 0, 'code')]).toEqual([410, 'deleted'])
    expect((await ask('GET', '/Patient/two/_history/1')).status).toBe(200)
  })
})

describe('a deleted resource', () => {
  it('is gone, until it is stored again', async () => {
    const gone = await ask('GET', '/Patient/two')
    expect([gone.status, at(gone.json, 'issue', 0, 'code')]).toEqual([410, 'deleted'])
    expect((await ask('GET', '/Patient/never')).status).toBe(404)
    expect((await put('two', 'female')).status).toBe(201)
    expect((await ask('GET', '/Patient/two')).headers.etag).toBe('W/"3"')
  })

  it('is not what a resource is that others store while it is looked for', async () => {
    const storage = memoryStorage()
    const racing: Storage = {
      ...storage,
      async read(type, id) {
        const found = await storage.read(type, id)
        if (found === undefined) await storage.write([putResource({ type, id, source: { resourceType: type, id } }, indexer)])
        return found
      },
    }
    const other = await startServer({ storage: racing })
    const status = async (method: string, path: string, body?: string): Promise<number> => {
      const headers = { ...fhirHeaders(other.token), ...(method === 'PATCH' && { 'content-type': 'application/json-patch+json' }) }
      return (await send(`${other.base}/fhir/R4${path}`, { method, headers, ...(body !== undefined && { body }) })).status
    }
    expect(await status('GET', '/Patient/fresh')).toBe(404)
    expect(await status('PATCH', '/Patient/changed', '[{"op":"add","path":"/active","value":true}]')).toBe(404)
    await other.stop()
  })

  it('is not found where no history is kept', async () => {
    const storage = memoryStorage([], { history: false })
    const other = await startServer({ storage })
    const fhir = (method: string, path: string): Promise<Reply> =>
      send(`${other.base}/fhir/R4${path}`, {
        method,
        headers: fhirHeaders(other.token),
        ...(method === 'PUT' && { body: '{"resourceType":"Basic","id":"a"}' }),
      })
    for (const method of ['PUT', 'PUT', 'DELETE']) await fhir(method, '/Basic/a')
    expect((await fhir('GET', '/Basic/a')).status).toBe(404)
    const text = "There is nothing at this path: this server keeps no earlier versions ('_history')."
    for (const path of ['/Basic/a/_history', '/Basic/_history', '/_history'])
      expect([path, await fhir('GET', path)]).toMatchObject([path, { status: 404, json: { issue: [{ details: { text } }] } }])
    await other.stop()
  })
})

describe('history', () => {
  it('of a resource has its versions as they were, the latest first', async () => {
    const reply = await ask('GET', '/Patient/two/_history')
    expect(at(reply.json, 'type')).toBe('history')
    expect(entries(reply).map(brief)).toEqual(['DELETE Patient/two 204 W/"2"', 'PUT Patient/two 201 W/"1"'])
    expect(
      entries(reply).map((entry) => [at(entry, 'fullUrl'), at(entry, 'resource', 'gender'), at(entry, 'response', 'lastModified')]),
    ).toEqual([
      [`${running.base}/fhir/R4/Patient/two`, undefined, '2024-01-04T00:00:00.000Z'],
      [`${running.base}/fhir/R4/Patient/two`, 'male', '2024-01-02T00:00:00.000Z'],
    ])
    expect((await ask('GET', '/Patient/never/_history')).status).toBe(404)
  })

  it('of a type and of everything goes over all resources', async () => {
    await ask('PUT', '/Basic/b', { body: { resourceType: 'Basic', id: 'b' } })
    const ofPatients = [
      'DELETE Patient/two 204 W/"2"',
      'PUT Patient/one 200 W/"2"',
      'PUT Patient/two 201 W/"1"',
      'PUT Patient/one 201 W/"1"',
    ]
    expect(entries(await ask('GET', '/Patient/_history')).map(brief)).toEqual(ofPatients)
    expect(entries(await ask('GET', '/_history')).map(brief)).toEqual(['PUT Basic/b 201 W/"1"', ...ofPatients])
    expect(entries(await ask('GET', '/Observation/_history'))).toEqual([])
  })

  it('comes in pages, since a time', async () => {
    const first = await ask('GET', '/Patient/_history?_count=2&_since=2024-01-02T00:00:00Z')
    expect(entries(first).map(brief)).toEqual(['DELETE Patient/two 204 W/"2"', 'PUT Patient/one 200 W/"2"'])
    await put('three', 'other')
    const second = await send(linkTo(first, 'next') ?? '', { headers: fhirHeaders(running.token) })
    expect(entries(second).map(brief)).toEqual(['PUT Patient/two 201 W/"1"'])
    expect([linkTo(second, 'next'), linkTo(first, 'self')]).toEqual([
      undefined,
      `${running.base}/fhir/R4/Patient/_history?_count=2&_since=2024-01-02T00%3A00%3A00Z`,
    ])
  })

  it('takes the time of a client that did not escape the plus of its zone', async () => {
    const escaped = await ask('GET', '/Patient/_history?_since=2024-01-02T01:00:00%2B01:00')
    const asWritten = await ask('GET', '/Patient/_history?_since=2024-01-02T01:00:00+01:00')
    expect(entries(asWritten).map(brief)).toEqual(entries(escaped).map(brief))
    expect([asWritten.status, linkTo(asWritten, 'self')]).toEqual([200, linkTo(escaped, 'self')])
    expect((await ask('GET', '/Patient?_lastUpdated=ge2024-01-01T01:00:00+01:00')).status).toBe(200)
  })

  it.each([
    ['/Patient/_history?_at=2024-01-02', ['PUT Patient/two 201 W/"1"', 'PUT Patient/one 201 W/"1"']],
    ['/_history?_at=2024-01-03T12:00:00Z', ['PUT Patient/one 200 W/"2"', 'PUT Patient/two 201 W/"1"']],
    ['/Patient/one/_history?_at=2024-01', ['PUT Patient/one 200 W/"2"', 'PUT Patient/one 201 W/"1"']],
    ['/Patient/two/_history?_at=2024-01-05', []],
    ['/Patient/_history?_at=2023', []],
    ['/Patient/one/_history?_at=ge2024-01-03', ['PUT Patient/one 200 W/"2"']],
    ['/Patient/one/_history?_at=gt2024-01-02', ['PUT Patient/one 200 W/"2"']],
    ['/Patient/one/_history?_at=le2024-01-02', ['PUT Patient/one 201 W/"1"']],
    ['/Patient/one/_history?_at=lt2024-01-03', ['PUT Patient/one 201 W/"1"']],
    ['/Patient/_history?_at=eq2024-01-02', ['PUT Patient/two 201 W/"1"', 'PUT Patient/one 201 W/"1"']],
    ['/Patient/_history?_at=ge2024-01-02&_at=lt2024-01-03', ['PUT Patient/two 201 W/"1"', 'PUT Patient/one 201 W/"1"']],
    ['/Patient/_history?_at=le2024-01-01&_at=ge2023', ['PUT Patient/one 201 W/"1"']],
  ])('has what was current at some time of a date: %s', async (path, expected) => {
    const reply = await ask('GET', path)
    expect([reply.status, entries(reply).map(brief)]).toEqual([200, expected])
  })

  it('of a time comes in pages, and only with those versions that a narrow scope covers', async () => {
    const first = await ask('GET', '/Patient/_history?_at=2024&_count=2')
    const second = await send(linkTo(first, 'next') ?? '', { headers: fhirHeaders(running.token) })
    expect([first, second].map((page) => entries(page).map(brief))).toEqual([
      ['PUT Patient/one 200 W/"2"', 'PUT Patient/two 201 W/"1"'],
      ['PUT Patient/one 201 W/"1"'],
    ])
    const token = await tokenFor('system/Patient.rs?gender=female')
    expect(entries(await ask('GET', '/Patient/_history?_at=2024', { token })).map(brief)).toEqual(['PUT Patient/one 200 W/"2"'])
  })

  it.each([
    ['_total=accurate', 4],
    ['_total=accurate&_count=1', 4],
    ['_total=accurate&_count=3&_since=2024-01-02', 3],
    ['_total=accurate&_at=2024-01-02&_count=1', 2],
    ['_total=estimate', 4],
    ['_total=estimate&_count=1', undefined],
    ['_total=none', undefined],
    ['_count=4', undefined],
  ])('has the number of its versions where it is asked for: %s', async (query, total) => {
    const first = await ask('GET', `/Patient/_history?${query}`)
    expect([first.status, at(first.json, 'total')]).toEqual([200, total])
    const next = linkTo(first, 'next')
    if (next === undefined || total === undefined) return
    expect(at((await send(next, { headers: fhirHeaders(running.token) })).json, 'total')).toBe(total)
  })

  it('says which parameter is repeated', async () => {
    const reply = await ask('GET', '/Patient/_history?_since=2024&_count=1&_since=2023')
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toBe("The parameter '_since' of a history may come only once.")
  })

  it.each(['/Patient/one/_history', '/Patient/_history', '/_history'])(
    '%s has as much of the versions as _elements or _summary ask',
    async (path) => {
      const whole = entries(await ask('GET', path))
      const [parts, data] = [await ask('GET', `${path}?_elements=gender`), await ask('GET', `${path}?_summary=data`)]
      expect([entries(parts), entries(data)].map((shown) => shown.map(brief))).toEqual([whole.map(brief), whole.map(brief)])
      const latest = (reply: Reply): unknown =>
        entries(reply)
          .map((entry) => at(entry, 'resource'))
          .find((each) => each !== undefined)
      expect(latest(parts)).toMatchObject({ id: 'one', gender: 'female', meta: { versionId: '2', tag: [{ code: 'SUBSETTED' }] } })
      expect(latest(data)).toMatchObject({ id: 'one', gender: 'female', meta: { tag: [{ code: 'SUBSETTED' }] } })
      expect(linkTo(parts, 'self')).toBe(`${running.base}/fhir/R4${path}?_elements=gender`)
      const counted = await ask('GET', `${path}?_summary=count`)
      expect([at(counted.json, 'total'), entries(counted), linkTo(counted, 'next')]).toEqual([whole.length, [], undefined])
    },
  )

  it('looks up the definition of a type once for the summaries of its versions', async () => {
    const { storage } = running
    const url = 'http://hl7.org/fhir/StructureDefinition/Patient'
    const resource = { resourceType: 'StructureDefinition', url, snapshot: { element: [{ path: 'Patient.gender', isSummary: true }] } }
    const find = vi.fn<ContentLayer['find']>(async () => [{ type: 'StructureDefinition', url, status: 'active', key: url, resource }])
    const server = await startServer({ storage, context: createContext({ storage, search: { parameters }, definitions: [{ find }] }) })
    const { json } = await send(`${server.base}/fhir/R4/Patient/_history?_summary=true`, { headers: fhirHeaders(server.token) })
    await server.stop()
    expect([0, 1, 2, 3].map((entry) => at(json, 'entry', entry, 'resource', 'gender'))).toEqual([undefined, 'female', 'male', 'male'])
    expect(find.mock.calls).toEqual([['StructureDefinition', 'url', url]])
  })

  it('counts only those versions that the caller may see', async () => {
    const token = await tokenFor('system/Patient.rs?gender=female')
    expect(at((await ask('GET', '/Patient/_history?_total=accurate', { token })).json, 'total')).toBe(1)
  })

  it('counts no more than 1,000 versions', async () => {
    await running.storage.write(Array.from({ length: 996 }, (_, n) => stored(`n${n}`)))
    expect(at((await ask('GET', '/Patient/_history?_total=accurate&_count=1')).json, 'total')).toBe(1_000)
    await put('more', 'other')
    for (const counted of ['_total=accurate', '_summary=count']) {
      const reply = await ask('GET', `/Patient/_history?${counted}&_count=1`)
      expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([422, 'too-costly'])
      expect(at(reply.json, 'issue', 0, 'details', 'text')).toContain(`Ask without ${counted}.`)
    }
    expect((await ask('GET', '/Patient/_history?_total=none&_count=1')).status).toBe(200)
    expect(at((await ask('GET', '/Patient/one/_history?_total=accurate&_count=1')).json, 'total')).toBe(2)
  })

  it.each([
    ['_total=many', 'invalid'],
    ['_at=yesterday', 'invalid'],
    ['_at=ne2024', 'invalid'],
    ['_at=gesoon', 'invalid'],
    ['_at=2024&_at=2025', 'invalid'],
    ['_at=ge2024&_at=gt2025', 'invalid'],
    ['_at=ge2024&_at=le2025&_at=le2026', 'invalid'],
    ['_at=ge2025&_at=lt2025', 'invalid'],
    ['_summary=some', 'invalid'],
    ['_elements=nothing', 'invalid'],
    ['_summary=true&_elements=gender', 'invalid'],
    ['_list=x', 'not-supported'],
    ['gender=male', 'invalid'],
    ['constructor=x', 'invalid'],
    ['_count=0', 'invalid'],
    ['_since=yesterday', 'invalid'],
    ['_count=1&_count=2', 'invalid'],
    ['_cursor=x', 'invalid'],
  ])('refuses %s by name', async (query, code) => {
    const reply = await ask('GET', `/Patient/_history?${query}`)
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([400, code])
  })

  it('needs the right to read the resource, to search the type, to search every type', async () => {
    const [reads, searches] = [await tokenFor('system/Patient.r'), await tokenFor('system/Patient.s')]
    const statuses = async (token: string): Promise<readonly number[]> =>
      Promise.all(
        ['/Patient/one/_history', '/Patient/_history', '/_history'].map(async (path) => (await ask('GET', path, { token })).status),
      )
    expect([await statuses(reads), await statuses(searches)]).toEqual([
      [200, 403, 403],
      [403, 200, 403],
    ])
  })

  it('has nothing of what a rule of the host hides', async () => {
    const { storage } = running
    const policy = ({ id }: { readonly id: string | undefined }): 'hide' | 'allow' => (id === 'one' ? 'hide' : 'allow')
    const hiding = await startServer({ storage, policy })
    const seen = await send(`${hiding.base}/fhir/R4/Patient/_history`, { headers: fhirHeaders(hiding.token) })
    expect(entries(seen).map(brief)).toEqual(['DELETE Patient/two 204 W/"2"', 'PUT Patient/two 201 W/"1"'])
    expect((await send(`${hiding.base}/fhir/R4/Patient/one/_history`, { headers: fhirHeaders(hiding.token) })).status).toBe(404)
    await hiding.stop()
  })

  it('has only those versions that a narrow scope covers', async () => {
    const token = await tokenFor('system/Patient.rs?gender=female')
    expect(entries(await ask('GET', '/Patient/_history', { token })).map(brief)).toEqual(['PUT Patient/one 200 W/"2"'])
    const statuses = ['/one/_history', '/one/_history/1', '/one/_history/2', '/two', '/two/_history', '/two/_history/2'].map(
      async (path) => (await ask('GET', `/Patient${path}`, { token })).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 404, 200, 404, 404, 404])
  })

  it('shows bots of other projects to nobody, nor their deletions', async () => {
    const bot = (project: string): object => ({ resourceType: 'Bot', id: project, name: 'x', project, code: 'exports.handler = () => 1' })
    for (const project of ['p', 'q']) expect((await ask('PUT', `/Bot/${project}`, { body: bot(project) })).status).toBe(201)
    await ask('DELETE', '/Bot/q')
    const { token } = await running.sessions.create({ user: { sub: 'ann' }, scopes: ['system/Bot.crus'], project: 'p' })
    expect(entries(await ask('GET', '/Bot/_history', { token })).map(brief)).toEqual(['PUT Bot/p 201 W/"1"'])
    const statuses = ['/Bot/q', '/Bot/q/_history', '/Bot/q/_history/1', '/Bot/q/_history/2'].map(
      async (path) => (await ask('GET', path, { token })).status,
    )
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404])
  })
})

describe('a read with a condition', () => {
  it.each([
    ['if-modified-since', 'Wed, 03 Jan 2024 00:00:00 GMT', 304],
    ['if-modified-since', 'Tue, 02 Jan 2024 23:59:59 GMT', 200],
    ['if-modified-since', 'soon', 200],
    ['if-none-match', 'W/"2"', 304],
    ['if-none-match', '*', 304],
    ['if-none-match', 'W/"1"', 200],
  ])('%s: %s is answered by %i', async (header, value, status) => {
    expect((await ask('GET', '/Patient/one', { headers: { [header]: value } })).status).toBe(status)
  })

  it('looks at tags rather than times', async () => {
    const headers = { 'if-none-match': 'W/"1"', 'if-modified-since': 'Wed, 03 Jan 2024 00:00:00 GMT' }
    expect((await ask('GET', '/Patient/one', { headers })).status).toBe(200)
  })

  it('may have changed at any time where the storage keeps no times', async () => {
    const storage = memoryStorage([{ resourceType: 'Patient', id: 'one' }], { now: () => new Date(0) })
    const timeless = await startServer({ storage })
    const headers = { 'if-modified-since': 'Wed, 03 Jan 2024 00:00:00 GMT', 'if-unmodified-since': 'Wed, 03 Jan 2024 00:00:00 GMT' }
    const read = await askFhir(timeless, '/Patient/one', { headers })
    const written = await askFhir(timeless, '/Patient/one', { method: 'PUT', headers, body: '{"resourceType":"Patient","id":"one"}' })
    expect([read.status, written.status]).toEqual([200, 412])
    await timeless.stop()
  })
})
