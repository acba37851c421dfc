import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
const servers: RunningServer[] = []

async function start(storage: Storage = memoryStorage()): Promise<RunningServer> {
  const running = await startServer({ storage, context: createContext({ storage, search: { parameters } }) })
  servers.push(running)
  return running
}

let running: RunningServer
beforeEach(async () => {
  running = await start()
  await put('Patient/known', { resourceType: 'Patient', id: 'known', identifier: [{ value: 'k' }] })
})
afterAll(() => Promise.all(servers.map((server) => server.stop())))

const sendTo = (path: string, method: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  send(`${running.base}/fhir/R4${path}`, {
    method,
    headers: { ...fhirHeaders(running.token), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const put = (path: string, body: unknown): Promise<Reply> => sendTo(`/${path}`, 'PUT', body)
const get = (path: string): Promise<Reply> => sendTo(`/${path}`, 'GET', undefined)
const transact = (...entry: unknown[]): Promise<Reply> => sendTo('', 'POST', { resourceType: 'Bundle', type: 'transaction', entry })

interface Sent {
  readonly method: string
  readonly url: string
  readonly resource?: unknown
  readonly fullUrl?: string
  readonly ifNoneExist?: string
  readonly ifMatch?: string
}
const entry = ({ resource, fullUrl, ...request }: Sent): unknown => ({ fullUrl, resource, request })

const A = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a'
const patient = (members: object = {}): object => ({ resourceType: 'Patient', ...members })
const statuses = ({ json }: Reply): unknown => (at(json, 'entry') as unknown[] | undefined)?.map((item) => at(item, 'response', 'status'))
const count = async (type: string): Promise<unknown> => at((await get(`${type}?_summary=count`)).json, 'total')

describe('a transaction', () => {
  it('takes the URLs and criteria of entries as R4’s own examples write them', async () => {
    const reply = await transact(
      entry({ method: 'GET', url: '/Patient/known' }),
      entry({ method: 'POST', url: 'Patient', ifNoneExist: 'Patient?identifier=k', resource: patient() }),
      entry({ method: 'DELETE', url: '/Patient?identifier=nobody' }),
    )
    expect([reply.status, statuses(reply)]).toEqual([200, ['200', '200', '204']])
  })

  it('writes everything, answers in the order of the entries, and reads what it wrote', async () => {
    const reply = await transact(
      entry({ method: 'GET', url: 'Patient/fresh' }),
      entry({ method: 'PUT', url: 'Patient/fresh', resource: patient({ id: 'fresh' }) }),
      entry({ method: 'POST', url: 'Patient', resource: patient() }),
      entry({ method: 'DELETE', url: 'Patient/known' }),
      entry({ method: 'GET', url: 'Patient?_summary=count' }),
    )
    expect([reply.status, at(reply.json, 'type'), statuses(reply)]).toEqual([
      200,
      'transaction-response',
      ['200', '201', '201', '204', '200'],
    ])
    expect(at(reply.json, 'entry', 3, 'response', 'etag')).toBe('W/"2"')
    expect(at(reply.json, 'entry', 4, 'resource', 'total')).toBe(2)
  })

  it('makes links to its own entries links to what is stored, and leaves all else, with its digits', async () => {
    const observation = `{"resourceType":"Observation","status":"final","code":{"text":"${A}"},"subject":{"reference":"${A}"},
      "identifier":[{"system":"urn:ietf:rfc:3986","value":"${A}"}],"valueQuantity":{"value":1.500},"instantiatesCanonical":"${A}",
      "extension":[{"url":"http://x","valueUri":"${A}"},{"url":"http://x","valueCanonical":"${A}"},{"url":"http://x","valueReference":{"reference":"Patient/9"}}],
      "contained":[{"resourceType":"Condition","id":"c","subject":{"reference":"${A}"}}],
      "text":{"status":"additional","div":"<div><a href=\\"${A}\\">${A}</a></div>"}}`
    const body = `{"resourceType":"Bundle","type":"transaction","entry":[
      {"fullUrl":"http://other/fhir/Observation/1","request":{"method":"POST","url":"Observation"},"resource":${observation}},
      {"fullUrl":"${A}","request":{"method":"POST","url":"Patient"},"resource":{"resourceType":"Patient"}},
      {"fullUrl":"http://other/fhir/Patient/9","request":{"method":"POST","url":"Patient"},"resource":{"resourceType":"Patient"}}]}`
    const reply = await sendTo('', 'POST', body)
    const [own, other] = [1, 2].map((index) => `Patient/${at(reply.json, 'entry', index, 'resource', 'id')}`)
    const stored = await get(`Observation/${at(reply.json, 'entry', 0, 'resource', 'id')}`)
    expect(stored.text).toContain('"value":1.500')
    expect(stored.json).toMatchObject({
      code: { text: A },
      subject: { reference: own },
      identifier: [{ value: A }],
      instantiatesCanonical: A,
      extension: [{ valueUri: own }, { valueCanonical: A }, { valueReference: { reference: other } }],
      contained: [{ subject: { reference: own } }],
      text: { div: `<div><a href="${own}">${A}</a></div>` },
    })
    expect(at((await get(`Observation?subject=${own}`)).json, 'total')).toBe(1)
  })

  it('takes conditions, and links to what they find', async () => {
    const sent = [
      entry({ method: 'POST', url: 'Patient', fullUrl: A, ifNoneExist: 'identifier=k', resource: patient() }),
      entry({
        method: 'POST',
        url: 'Observation',
        resource: { resourceType: 'Observation', subject: { reference: A }, performer: [{ reference: 'Patient?identifier=k' }] },
      }),
      entry({ method: 'PUT', url: 'Patient?identifier=other', resource: patient({ identifier: [{ value: 'other' }] }) }),
      entry({ method: 'DELETE', url: 'Condition?identifier=none' }),
    ]
    const replies = [await transact(...sent), await transact(...sent)]
    expect(replies.map(statuses)).toEqual([
      ['200', '201', '201', '204'],
      ['200', '201', '200', '204'],
    ])
    expect(at(replies[0]?.json, 'entry', 1, 'resource')).toMatchObject({
      subject: { reference: 'Patient/known' },
      performer: [{ reference: 'Patient/known' }],
    })
    expect(await count('Patient')).toBe(2)
  })

  it('with conditions makes one resource however many come at once', async () => {
    const one = entry({ method: 'POST', url: 'Patient', ifNoneExist: 'identifier=q', resource: patient({ identifier: [{ value: 'q' }] }) })
    await Promise.all(Array.from({ length: 8 }, () => transact(one)))
    expect(await count('Patient')).toBe(2)
  })

  it.each<[string, number, string, unknown]>([
    ['a resource of another type', 400, 'structure', entry({ method: 'POST', url: 'Patient', resource: { resourceType: 'Basic' } })],
    [
      'a version that is not the current one',
      412,
      'conflict',
      entry({ method: 'PUT', url: 'Patient/known', ifMatch: 'W/"7"', resource: patient({ id: 'known' }) }),
    ],
    [
      'a conditional reference to nothing',
      422,
      'processing',
      entry({ method: 'POST', url: 'Basic', resource: { resourceType: 'Basic', subject: { reference: 'Patient?identifier=nobody' } } }),
    ],
    ['a resource that another entry is about', 400, 'structure', entry({ method: 'DELETE', url: 'Patient/first' })],
    ['criteria that cannot be read', 400, 'invalid', entry({ method: 'DELETE', url: 'Patient?nonsense=1' })],
    ['an operation', 422, 'not-supported', entry({ method: 'POST', url: 'Patient/$validate', resource: patient() })],
    ['a patch that is none', 400, 'structure', entry({ method: 'PATCH', url: 'Patient/known', resource: patient() })],
    ['a Bundle of requests', 400, 'structure', entry({ method: 'POST', url: '', resource: { resourceType: 'Bundle', type: 'batch' } })],
    ['an update without a resource', 400, 'structure', entry({ method: 'PUT', url: 'Patient/known' })],
    ['nonsense', 400, 'structure', 'nonsense'],
  ])('with %s does nothing and names the entry', async (_, status, code, wrong) => {
    const reply = await transact(entry({ method: 'PUT', url: 'Patient/first', resource: patient({ id: 'first' }) }), wrong)
    expect([reply.status, at(reply.json, 'issue', 0, 'code')], reply.text).toEqual([status, code])
    expect(at(reply.json, 'issue', 0, 'expression')).toEqual(['Bundle.entry[1]'])
    expect(await count('Patient')).toBe(1)
  })

  it.each<[string, number, string, Sent]>([
    ['nothing', 404, 'not-found', { method: 'GET', url: 'Patient/none' }],
    ['what the transaction deletes', 410, 'deleted', { method: 'GET', url: 'Patient/known' }],
    ['a version that there will not be', 404, 'not-found', { method: 'GET', url: 'Patient/first/_history/3' }],
    ['the history of nothing', 404, 'not-found', { method: 'GET', url: 'Patient/none/_history' }],
    ['a search that cannot be read', 400, 'invalid', { method: 'GET', url: 'Patient?nonsense=1' }],
    ['no path', 404, 'not-found', { method: 'HEAD', url: 'Nothing' }],
    ['a value set that there is not', 404, 'not-found', { method: 'GET', url: 'ValueSet/$expand?url=urn:none' }],
    ['an expansion of nothing', 400, 'required', { method: 'GET', url: 'ValueSet/$expand' }],
  ])('whose read is of %s does nothing and names the entry', async (_, status, code, wrong) => {
    const reply = await transact(
      entry({ method: 'PUT', url: 'Patient/first', resource: patient({ id: 'first' }) }),
      entry({ method: 'DELETE', url: 'Patient/known' }),
      entry(wrong),
    )
    expect([reply.status, at(reply.json, 'issue', 0, 'code')], reply.text).toEqual([status, code])
    expect(at(reply.json, 'issue', 0, 'expression')).toEqual(['Bundle.entry[2]'])
    expect([(await get('Patient/first')).status, (await get('Patient/known')).status]).toEqual([404, 200])
  })

  it('reads what it wrote: resources, their versions and histories, and what is defined by them', async () => {
    const valueSet = { resourceType: 'ValueSet', id: 'v', url: 'urn:v', compose: { include: [{ system: 'urn:s' }] } }
    const codeSystem = { resourceType: 'CodeSystem', id: 's', url: 'urn:s', content: 'complete', concept: [{ code: 'a' }] }
    const reply = await transact(
      entry({ method: 'GET', url: 'Patient/fresh/_history' }),
      entry({ method: 'PUT', url: 'Patient/fresh', resource: patient({ id: 'fresh' }) }),
      entry({ method: 'PUT', url: 'Patient/known', resource: patient({ id: 'known', active: true }) }),
      entry({ method: 'GET', url: 'Patient/known/_history/2' }),
      entry({ method: 'GET', url: 'Patient/known/_history/1' }),
      entry({ method: 'HEAD', url: 'Patient/known' }),
      entry({ method: 'GET', url: 'ValueSet/$expand?url=urn:v' }),
      entry({ method: 'GET', url: 'ValueSet/v/$expand' }),
      entry({ method: 'PUT', url: 'ValueSet/v', resource: valueSet }),
      entry({ method: 'PUT', url: 'CodeSystem/s', resource: codeSystem }),
      entry({ method: 'GET', url: 'Patient?active=true' }),
    )
    expect([reply.status, statuses(reply)], reply.text).toEqual([
      200,
      ['200', '201', '200', '200', '200', '200', '200', '200', '201', '201', '200'],
    ])
    expect(at(reply.json, 'entry', 3, 'resource')).toMatchObject({ active: true, meta: { versionId: '2' } })
    expect(at(reply.json, 'entry', 6, 'resource', 'expansion', 'total')).toBe(1)
    expect(at(reply.json, 'entry', 10, 'resource', 'total')).toBe(1)
  })

  it('of reads only is answered as a whole', async () => {
    expect(statuses(await transact(entry({ method: 'GET', url: 'Patient/known' })))).toEqual(['200'])
    expect((await transact(entry({ method: 'GET', url: 'Patient/known' }), entry({ method: 'GET', url: 'Patient/none' }))).status).toBe(404)
  })

  it('keeps nothing of what it would have written', async () => {
    const valueSet = (code: string): unknown => {
      const compose = { include: [{ system: 'urn:s', concept: [{ code }] }] }
      return { resourceType: 'ValueSet', id: 'v', url: 'urn:v', status: 'active', compose }
    }
    const concept = [{ code: 'a' }, { code: 'b' }]
    await put('CodeSystem/s', { resourceType: 'CodeSystem', id: 's', url: 'urn:s', status: 'active', content: 'complete', concept })
    const failed = await transact(
      entry({ method: 'PUT', url: 'ValueSet/v', resource: valueSet('a') }),
      entry({ method: 'GET', url: 'ValueSet/$expand?url=urn:v' }),
      entry({ method: 'GET', url: 'ValueSet/v/$expand' }),
      entry({ method: 'GET', url: 'Patient/none' }),
    )
    expect([failed.status, at(failed.json, 'issue', 0, 'expression')]).toEqual([404, ['Bundle.entry[3]']])
    await put('ValueSet/v', valueSet('b'))
    for (const path of ['ValueSet/$expand?url=urn:v', 'ValueSet/v/$expand'])
      expect(at((await get(path)).json, 'expansion', 'contains', 0, 'code')).toBe('b')
  })

  it.each([
    ['fullUrl', (ifNoneExist: string) => entry({ method: 'POST', url: 'Patient', fullUrl: A, resource: patient({ id: ifNoneExist }) })],
    ['criteria', () => entry({ method: 'POST', url: 'Patient', ifNoneExist: 'identifier=z', resource: patient() })],
  ])('with the same %s twice is refused', async (_, make) => {
    expect((await transact(make('1'), make('2'))).status).toBe(400)
    expect(await count('Patient')).toBe(1)
  })

  it('is allowed only if every entry is', async () => {
    const { token } = await running.sessions.create({ user: 'bob', scopes: ['user/Patient.cud'] })
    const body = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        entry({ method: 'DELETE', url: 'Patient/known' }),
        entry({ method: 'POST', url: 'Basic', resource: { resourceType: 'Basic' } }),
      ],
    }
    expect((await sendTo('', 'POST', body, { authorization: `Bearer ${token}` })).status).toBe(403)
    expect((await get('Patient/known')).status).toBe(200)
  })

  it('is refused where the storage cannot write all or nothing', async () => {
    const storage = memoryStorage()
    running = await start({ ...storage, capabilities: { ...storage.capabilities, atomic: false } })
    const reply = await transact(entry({ method: 'POST', url: 'Patient', resource: patient() }))
    expect([reply.status, at(reply.json, 'issue', 0, 'code'), await count('Patient')]).toEqual([422, 'not-supported', 0])
  })
})
