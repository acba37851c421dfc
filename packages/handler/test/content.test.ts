import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  running = await startServer()
})
afterAll(() => running.stop())

const fhir = (path: string): string => `${running.base}/fhir/R4${path}`
const put = (path: string, resource: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(fhir(path), {
    method: 'PUT',
    headers: { ...fhirHeaders(running.token), ...headers },
    body: typeof resource === 'string' ? resource : JSON.stringify(resource),
  })
const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send(fhir(path), { headers: { ...fhirHeaders(running.token), ...headers } })

describe('content', () => {
  it('is stored by PUT, 201 the first time, and read back with its version', async () => {
    const made = await put('/Patient/p1', { resourceType: 'Patient', id: 'p1' })
    expect([made.status, made.headers.location, made.headers.etag]).toEqual([201, fhir('/Patient/p1/_history/1'), 'W/"1"'])
    expect((await put('/Patient/p1', { resourceType: 'Patient', id: 'p1', active: true })).status).toBe(200)
    const read = await get('/Patient/p1')
    expect([read.status, read.headers.etag, read.json]).toMatchObject([
      200,
      'W/"2"',
      { resourceType: 'Patient', id: 'p1', active: true, meta: { versionId: '2' } },
    ])
    expect(read.headers['content-type']).toBe('application/fhir+json; charset=utf-8')
  })

  it('keeps the digits of its numbers', async () => {
    const text = '{"resourceType":"Observation","id":"o1","valueQuantity":{"value":1.50000000000000000000000001}}'
    expect((await put('/Observation/o1', text)).text).toContain('1.50000000000000000000000001')
    expect((await get('/Observation/o1?_pretty=true')).text).toContain('    "value": 1.50000000000000000000000001')
  })

  it('is read whatever else the URL has, unless the caller wants it refused', async () => {
    const strict = { prefer: 'handling=strict' }
    await put('/Patient/p2', { resourceType: 'Patient', id: 'p2' })
    for (const path of ['/Patient/p2', '/Patient/p2/_history/1']) {
      expect((await get(`${path}?nonsense=1&_format=json`)).status).toBe(200)
      expect((await get(`${path}?_pretty=true&_format=json`, strict)).status).toBe(200)
      const refused = await get(`${path}?nonsense=1&_format=json`, strict)
      expect([refused.status, at(refused.json, 'issue', 0, 'expression')]).toEqual([400, ['nonsense']])
    }
  })

  it('is stored under a new id by POST', async () => {
    const made = await send(fhir('/Patient'), {
      method: 'POST',
      headers: fhirHeaders(running.token),
      body: '{"resourceType":"Patient","id":"mine"}',
    })
    expect(made.status).toBe(201)
    expect(at(made.json, 'id')).not.toBe('mine')
    expect((await send(String(made.headers.location), { headers: fhirHeaders(running.token) })).json).toEqual(made.json)
  })

  it('is deleted, more than once, and then gone', async () => {
    await put('/Patient/gone', { resourceType: 'Patient', id: 'gone' })
    const remove = (): Promise<Reply> => send(fhir('/Patient/gone'), { method: 'DELETE', headers: fhirHeaders(running.token) })
    expect([(await remove()).status, (await remove()).status, (await get('/Patient/gone')).status]).toEqual([204, 204, 410])
  })

  it('is written only if its version is the expected one', async () => {
    const body = { resourceType: 'Patient', id: 'v' }
    await put('/Patient/v', body)
    const statuses = []
    for (const match of ['W/"2"', '"x"', 'x', '2', 'W/"1"', '2'])
      statuses.push((await put('/Patient/v', body, { 'if-match': match })).status)
    expect(statuses).toEqual([412, 412, 412, 412, 200, 200])
    expect((await put('/Patient/v', body, { 'if-none-match': '*' })).status).toBe(412)
  })

  it.each([
    ['put', 'any version', '*', 200],
    ['delete', 'any version', ' * ', 204],
    ['put', 'one of several', '"7", W/"1"', 200],
    ['delete', 'a version without quotes', '1', 204],
    ['put', 'another without quotes', '7', 412],
    ['put', 'none of several', '"7", W/"8"', 412],
  ])('is %s only if there is %s: If-Match: %s', async (method, what, match, status) => {
    const changed = (id: string): Promise<Reply> =>
      send(fhir(`/Patient/${id}`), {
        method: method.toUpperCase(),
        headers: { ...fhirHeaders(running.token), 'if-match': match },
        ...(method === 'put' && { body: JSON.stringify({ resourceType: 'Patient', id }) }),
      })
    const id = `${method}-${what.replaceAll(' ', '-')}`
    await put(`/Patient/${id}`, { resourceType: 'Patient', id })
    expect([(await changed(id)).status, (await changed('nobody')).status]).toEqual([status, 412])
  })

  it('is not sent again to a caller who has it', async () => {
    await put('/Patient/e', { resourceType: 'Patient', id: 'e' })
    const reply = await get('/Patient/e', { 'if-none-match': 'W/"9", W/"1"' })
    expect([reply.status, reply.text]).toEqual([304, ''])
  })

  it.each([
    ['another id', { resourceType: 'Patient', id: 'other' }, 400],
    ['no id', { resourceType: 'Patient' }, 400],
    ['another type', { resourceType: 'Observation', id: 'x' }, 400],
    ['no resource', [], 400],
  ])('is refused with %s', async (_what, body, status) => {
    const reply = await put('/Patient/x', body)
    expect([reply.status, at(reply.json, 'issue', 0, 'severity')]).toEqual([status, 'error'])
  })

  it('asks for a minimal answer', async () => {
    const reply = await put('/Patient/m', { resourceType: 'Patient', id: 'm' }, { prefer: 'return=minimal' })
    expect([reply.status, reply.text, reply.headers.etag]).toEqual([201, '', 'W/"1"'])
  })

  it('conditional create is refused by name where there is no search', async () => {
    const headers = { ...fhirHeaders(running.token), 'if-none-exist': 'identifier=x' }
    const reply = await send(fhir('/Patient'), { method: 'POST', headers, body: '{"resourceType":"Patient"}' })
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([400, 'not-supported'])
  })
})

describe('operations', () => {
  it('are mounted by their descriptors', async () => {
    await put('/ConceptMap/m1', {
      resourceType: 'ConceptMap',
      id: 'm1',
      url: 'http://example.org/map',
      status: 'active',
      group: [{ source: 'http://a', target: 'http://b', element: [{ code: 'x', target: [{ code: 'y', equivalence: 'equal' }] }] }],
    })
    const parameters = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'code', valueCode: 'x' },
        { name: 'system', valueUri: 'http://a' },
      ],
    }
    const reply = await send(fhir('/ConceptMap/m1/$translate'), {
      method: 'POST',
      headers: fhirHeaders(running.token),
      body: JSON.stringify(parameters),
    })
    expect(at(reply.json, 'parameter', 0)).toEqual({ name: 'result', valueBoolean: true })
    expect((await get('/ConceptMap/$translate?url=http://example.org/map&code=x&system=http://a')).status).toBe(200)
  })
})
