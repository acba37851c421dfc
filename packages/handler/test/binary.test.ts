import { request } from 'node:http'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askFhir, at, startServer, USER, type Reply, type RunningServer, type Sending } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  const release = r4()
  const storage = memoryStorage([], { indexer: release.indexer })
  running = await startServer({ storage, context: createContext({ storage, ...release }), limits: { binaryBytes: 100_000 } })
})
afterAll(() => running.stop())

const ask = (path: string, { type, ...sending }: Sending & { type?: string } = {}, token = running.token): Promise<Reply> =>
  askFhir({ ...running, token }, path, {
    ...sending,
    headers: { 'content-type': type ?? 'application/fhir+json', ...(sending.headers as object) },
  })
const content = new Uint8Array(50_000).map((_, at) => (at * 7) % 256)

/** The content as bytes. */
async function bytesOf(path: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const headers = { authorization: `Bearer ${running.token}` }
  request(`${running.base}/fhir/R4${path}`, { headers }, (incoming) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => resolve(Buffer.concat(chunks)))
  })
    .on('error', reject)
    .end()
  return promise
}

describe('a Binary', () => {
  it('is stored from its content, and gives it back byte for byte', async () => {
    const created = await ask('/Binary', { method: 'POST', type: 'application/pdf', body: content })
    expect([created.status, at(created.json, 'resourceType'), at(created.json, 'contentType')]).toEqual([201, 'Binary', 'application/pdf'])
    const path = `/Binary/${String(at(created.json, 'id'))}`
    expect(Buffer.compare(await bytesOf(path), Buffer.from(content))).toBe(0)
    const replaced = await ask(path, { method: 'PUT', type: 'image/png', body: content.subarray(0, 7) })
    expect([replaced.status, replaced.headers.etag]).toEqual([200, 'W/"2"'])
    expect([...(await bytesOf(path))]).toEqual([...content.subarray(0, 7)])
    const head = await ask(path, { method: 'HEAD' })
    expect([head.headers['content-type'], head.headers['content-length'], head.headers.etag]).toEqual(['image/png', '7', 'W/"2"'])
    expect((await ask(path, { headers: { 'if-none-match': 'W/"2"' } })).status).toBe(304)
  })

  it.each([
    [{ accept: 'application/fhir+json' }, '', 'Binary'],
    [{ accept: 'application/json' }, '', 'Binary'],
    [{ accept: 'application/fhir+json;fhirVersion=4.0, */*' }, '', 'Binary'],
    [{}, '?_format=json', 'Binary'],
    [{}, '?_summary=true', 'Binary'],
    [{ accept: '*/*' }, '', undefined],
    [{ accept: 'application/pdf' }, '', undefined],
    [{ accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }, '', undefined],
    [{}, '', undefined],
  ])('asked for with %j%s is a resource or content: %s', async (headers, query, expected) => {
    await ask('/Binary/text', { method: 'PUT', type: 'text/plain', body: 'plain' })
    const reply = await ask(`/Binary/text${query}`, { headers })
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([200, expected])
    if (expected === undefined) expect(reply.text).toBe('plain')
  })

  it('is stored as a resource, too, with other JSON as content', async () => {
    const resource = { resourceType: 'Binary', id: 'r', contentType: 'text/plain', data: 'YWJj' }
    for (const type of ['application/fhir+json', 'application/json', 'application/json+fhir', 'text/json'])
      expect((await ask('/Binary/r', { method: 'PUT', type, body: JSON.stringify(resource) })).status).toBeLessThan(202)
    expect((await ask('/Binary/r')).text).toBe('abc')
    expect((await ask('/Binary/j', { method: 'PUT', type: 'application/json', body: '[1,2]' })).status).toBe(201)
    const json = await ask('/Binary/j')
    expect([json.headers['content-type'], json.text]).toEqual(['application/json', '[1,2]'])
    await ask('/Binary/j', { method: 'PUT', type: 'application/ld+json', body: '{"a":1}' })
    expect((await ask('/Binary/j')).headers['content-type']).toBe('application/ld+json')
  })

  it.each([
    'text/html',
    'text/html; charset=utf-8',
    'TEXT/HTML',
    'application/xhtml+xml',
    'image/svg+xml',
    'text/xml',
    'application/xml',
    'application/javascript',
    'text/javascript',
    'text/css',
    'multipart/related; boundary=x',
    'application/x-shockwave-flash',
    'message/rfc822',
  ])('of the type %s is never served as something that a browser runs', async (type) => {
    await ask('/Binary/active', { method: 'PUT', type, body: '<script>alert(1)</script>' })
    const { headers, text } = await ask('/Binary/active', { headers: { accept: 'text/html' } })
    expect([headers['content-type'], headers['x-content-type-options'], text]).toEqual([
      'application/octet-stream',
      'nosniff',
      '<script>alert(1)</script>',
    ])
    expect(headers['content-disposition']).toBe('attachment; filename="active"')
    expect(headers['content-security-policy']).toContain('sandbox')
    expect(at((await ask('/Binary/active', { headers: { accept: 'application/fhir+json' } })).json, 'contentType')).toBe(type)
  })

  it.each([
    ['x', 'text/plain\u0000', 415],
    ['x', '', 415],
    ['x', 'nonsense', 415],
    ['x', 'a/b; c', 415],
    ['x'.repeat(100_001), 'text/plain', 413],
    ['{"resourceType":"Patient"}', 'application/fhir+json', 400],
    ['{', 'application/fhir+json', 400],
    ['{"resourceType":"Binary","id":"other","contentType":"a/b"}', 'application/fhir+json', 400],
    ['{"resourceType":"Binary","id":"wrong"}', 'application/fhir+json', 422],
  ])('from %.20s of the type %j is refused with %i', async (body, type, status) => {
    // A header cannot have a NUL: the client refuses it before the server could.
    const sent = type.includes('\u0000') ? 'text/plain "' : type
    const reply = await ask('/Binary/wrong', { method: 'PUT', type: sent, body })
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
  })

  it('whose data is not base64 can be read as a resource only', async () => {
    await running.storage.write([
      {
        op: 'put',
        type: 'Binary',
        id: 'bad',
        text: '{"resourceType":"Binary","id":"bad","meta":{},"contentType":"a/b","data":"a=b!"}',
        entries: [],
      },
    ])
    expect((await ask('/Binary/bad')).status).toBe(422)
    expect((await ask('/Binary/bad', { headers: { accept: 'application/fhir+json' } })).status).toBe(200)
  })

  it('with a type that no header can carry is served as bytes', async () => {
    const text = '{"resourceType":"Binary","id":"odd","meta":{},"contentType":"a/b\\r\\nX-Evil: 1","data":"YQ=="}'
    await running.storage.write([{ op: 'put', type: 'Binary', id: 'odd', text, entries: [] }])
    const { headers, text: body } = await ask('/Binary/odd')
    expect([headers['content-type'], headers['x-evil'], body]).toEqual(['application/octet-stream', undefined, 'a'])
  })

  it('is a resource within Bundles', async () => {
    await ask('/Binary/text', { method: 'PUT', type: 'text/plain', body: 'plain' })
    const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url: 'Binary/text' } }] })
    expect(at((await ask('', { method: 'POST', body })).json, 'entry', 0, 'resource', 'data')).toBe('cGxhaW4=')
  })

  it('belongs to the resource of X-Security-Context: who may not read that gets none of it', async () => {
    await ask('/Patient/p', { method: 'PUT', body: '{"resourceType":"Patient","id":"p"}' })
    const headers = { 'x-security-context': 'Patient/p' }
    const stored = await ask('/Binary/secret', { method: 'PUT', type: 'text/plain', body: 'secret', headers })
    expect(at(stored.json, 'securityContext', 'reference')).toBe('Patient/p')
    expect((await ask('/Binary/secret')).headers['x-security-context']).toBe('Patient/p')
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Binary.cruds'] })
    const paths = [
      '/Binary/secret',
      '/Binary/secret/_history/1',
      '/Binary?_id=secret',
      '/Binary?_id=secret&_summary=count',
      '/Binary/secret/_history',
      '/?_type=Binary',
      '/Binary/secret/$validate',
    ]
    const replies = await Promise.all(paths.map((path) => ask(path, {}, token)))
    expect(replies.map(({ text }) => text.includes('secret","meta"') || text.includes('c2VjcmV0') || text === 'secret')).toEqual(
      paths.map(() => false),
    )
    expect([replies[0]?.status, replies[1]?.status, at(replies[3]?.json, 'total'), replies[6]?.status]).toEqual([404, 404, 0, 404])
    expect((await ask('/Binary/secret', { method: 'PUT', type: 'text/plain', body: 'x' }, token)).status).toBe(404)
    const both = await running.sessions.create({ user: USER, scopes: ['system/Binary.cruds', 'system/Patient.r'] })
    expect((await ask('/Binary/secret', {}, both.token)).text).toBe('secret')
  })

  it('that its caller must not know of is deleted like one that does not exist, and stays', async () => {
    await ask('/Binary/kept', { method: 'PUT', type: 'text/plain', body: 'kept', headers: { 'x-security-context': 'Patient/p' } })
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Binary.cruds'] })
    const batch = (type: string, id: string, times = 1): Promise<Reply> => {
      const entry = Array.from({ length: times }, () => ({ request: { method: 'DELETE', url: `Binary/${id}` } }))
      return ask('', { method: 'POST', body: JSON.stringify({ resourceType: 'Bundle', type, entry }) }, token)
    }
    const deleted = async (id: string): Promise<readonly (readonly unknown[])[]> => {
      const conditions = [
        {},
        { 'if-match': 'W/"1"' },
        { 'if-match': '*' },
        { 'if-none-match': 'W/"1"' },
        { 'if-none-match': '*' },
        { prefer: 'return=OperationOutcome' },
      ]
      const replies = [
        ...(await Promise.all(conditions.map((headers) => ask(`/Binary/${id}`, { method: 'DELETE', headers }, token)))),
        await batch('batch', id),
        await batch('transaction', id),
        await batch('transaction', id, 2),
      ]
      return replies.map(({ status, headers, text }) => [status, headers.etag, text.replaceAll(id, 'x').replaceAll(/[0-9a-f-]{36}/g, '')])
    }
    const hidden = await deleted('kept')
    expect(hidden).toEqual(await deleted('none'))
    expect(hidden.map(([status]) => status)).toEqual([204, 412, 412, 204, 204, 200, 200, 200, 400])
    expect((await ask('/Binary/kept')).text).toBe('kept')
  })

  it('is counted by a Measure only for those who may read whatever it may belong to', async () => {
    const code = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-population', code: 'initial-population' }] }
    const population = [{ code, criteria: { language: 'application/x-fhir-query', expression: 'Binary' } }]
    const measure = { resourceType: 'Measure', id: 'binaries', status: 'active', group: [{ population }] }
    await ask('/Measure/binaries', { method: 'PUT', body: JSON.stringify(measure) })
    const evaluated = async (scopes: readonly string[]): Promise<number> => {
      const { token } = await running.sessions.create({ user: USER, scopes })
      return (await ask('/Measure/binaries/$evaluate-measure?periodStart=2026&periodEnd=2026', {}, token)).status
    }
    expect(await evaluated(['system/Measure.r', 'system/Binary.rs'])).toBe(403)
    expect(await evaluated(['system/*.rs'])).toBe(200)
  })

  it('is not found by what refers to it, but for those who may read whatever it may belong to', async () => {
    const item = { resourceType: 'List', id: 'l', status: 'current', mode: 'working', entry: [{ item: { reference: 'Binary/secret' } }] }
    await ask('/List/l', { method: 'PUT', body: JSON.stringify(item) })
    const found = async (path: string, ...scopes: string[]): Promise<unknown> => {
      const { token } = await running.sessions.create({ user: USER, scopes })
      const { status, json } = await ask(path, {}, token)
      return status === 200 ? at(json, 'total') : status
    }
    for (const path of ['/List?item:Binary._id=secret', '/Binary?_has:List:item:item:Binary._id=secret'])
      expect([await found(path, 'system/Binary.rs', 'system/List.rs'), await found(path, 'system/*.rs')]).toEqual([
        403,
        path.startsWith('/List') ? 1 : undefined,
      ])
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Binary.rs', 'system/List.cruds'] })
    expect((await ask('/List?item:Binary._id=secret', { method: 'DELETE' }, token)).status).toBe(403)
  })

  it('that its caller must not know of is missing when references are validated, like one that does not exist', async () => {
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Binary.rs', 'system/List.r'] })
    const validated = async (id: string): Promise<unknown> => {
      const item = { resourceType: 'List', status: 'current', mode: 'working', entry: [{ item: { reference: `Binary/${id}` } }] }
      const { json } = await ask('/List/$validate?validateReferences=exists', { method: 'POST', body: JSON.stringify(item) }, token)
      return JSON.parse(JSON.stringify(at(json, 'issue')).replaceAll(id, ':id'))
    }
    expect(await validated('secret')).toEqual(await validated('absent'))
  })

  it('is only for those whose part of the type has what it belongs to', async () => {
    for (const [id, gender] of Object.entries({ ada: 'female', bob: 'male' })) {
      await ask(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify({ resourceType: 'Patient', id, gender }) })
      const headers = { 'x-security-context': `Patient/${id}` }
      await ask(`/Binary/of-${id}`, { method: 'PUT', type: 'text/plain', body: `about ${id}`, headers })
    }
    const headers = { 'x-security-context': 'http://127.0.0.1/fhir/R4/Patient/bob/_history/1#part' }
    await ask('/Binary/of-bob-too', { method: 'PUT', type: 'text/plain', body: 'about bob', headers })
    const { token } = await running.sessions.create({ user: USER, scopes: ['system/Binary.cruds', 'system/Patient.r?gender=female'] })
    const statusOf = async (path: string, more = {}): Promise<number> => (await ask(path, more, token)).status
    expect((await ask('/Binary/of-ada', {}, token)).text).toBe('about ada')
    for (const path of ['/Binary/of-bob', '/Binary/of-bob-too', '/Binary/of-bob/_history/1']) expect(await statusOf(path)).toBe(404)
    expect(await statusOf('/Binary/of-bob', { method: 'PUT', type: 'text/plain', body: 'x' })).toBe(404)
    expect(at((await ask('/Binary?_id=of-ada,of-bob&_summary=count', {}, token)).json, 'total')).toBe(1)
    for (const path of ['/Binary?_id=of-ada,of-bob,of-bob-too', '/Binary/_history', '/?_type=Binary']) {
      const { text } = await ask(path, {}, token)
      expect([path, text.includes('"id":"of-ada'), text.includes('"id":"of-bob')]).toEqual([path, true, false])
    }
  })

  it('whose context cannot be told is only for those who may read everything', async () => {
    const contexts = [{ reference: 'urn:uuid:1' }, { reference: '#p' }, { identifier: { value: '1' } }, { reference: 'Nothing/1' }]
    for (const [number, securityContext] of contexts.entries()) {
      const body = JSON.stringify({
        resourceType: 'Binary',
        id: `lost-${number}`,
        contentType: 'text/plain',
        securityContext,
        data: 'YQ==',
      })
      await ask(`/Binary/lost-${number}`, { method: 'PUT', body })
    }
    const tokenOf = async (...scopes: string[]): Promise<string> => (await running.sessions.create({ user: USER, scopes })).token
    const [some, part, all] = [
      await tokenOf('system/Binary.cruds', 'system/Patient.cruds'),
      await tokenOf('system/*.cruds', 'system/Patient.rs?gender=female'),
      await tokenOf('system/*.rs'),
    ]
    for (const number of contexts.keys()) {
      const statuses = await Promise.all([some, part, all].map(async (token) => (await ask(`/Binary/lost-${number}`, {}, token)).status))
      expect([number, ...statuses]).toEqual([number, 404, 200, 200])
    }
    expect(at((await ask('/Binary?_id=lost-0,lost-1&_summary=count', {}, some)).json, 'total')).toBe(0)
  })

  it('takes no X-Security-Context that leads to no resource', async () => {
    for (const context of ['nothing', '#p', 'urn:uuid:1', 'Nothing/1']) {
      const reply = await ask('/Binary/odd-context', {
        method: 'PUT',
        type: 'text/plain',
        body: 'a',
        headers: { 'x-security-context': context },
      })
      expect([context, reply.status]).toEqual([context, 400])
    }
  })
})
