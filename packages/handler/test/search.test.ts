import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

let running: RunningServer
beforeAll(async () => {
  const storage = memoryStorage()
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  running = await startServer({ storage, context: createContext({ storage, search: { parameters }, definitions: [r4Definitions()] }) })
  for (const [id, family] of [
    ['a', 'Muster'],
    ['b', 'Muster'],
    ['c', 'Other'],
  ]) {
    await post(`/Patient/${id}`, { resourceType: 'Patient', id, name: [{ family }], gender: 'female' }, 'PUT')
  }
  const value =
    '{"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"},"valueQuantity":{"value":1.50}}'
  await post('/Observation/o', value, 'PUT')
})
afterAll(() => running.stop())

const fhir = (path: string): string => `${running.base}/fhir/R4${path}`
const get = (path: string, token = running.token): Promise<Reply> => send(fhir(path), { headers: { authorization: `Bearer ${token}` } })
const post = (path: string, body: unknown, method = 'POST'): Promise<Reply> =>
  send(fhir(path), { method, headers: fhirHeaders(running.token), body: typeof body === 'string' ? body : JSON.stringify(body) })
const idsOf = ({ json }: Reply): unknown => (at(json, 'entry') as unknown[] | undefined)?.map((entry) => at(entry, 'resource', 'id'))

describe('search', () => {
  it('gives matches with total, full urls and a self link from the configured address', async () => {
    const reply = await get('/Patient?family=muster&_pretty=true')
    expect(reply.json).toMatchObject({
      resourceType: 'Bundle',
      type: 'searchset',
      total: 2,
      link: [{ relation: 'self', url: fhir('/Patient?family=muster') }],
      entry: [{ fullUrl: fhir('/Patient/a'), search: { mode: 'match' } }, { fullUrl: fhir('/Patient/b') }],
    })
  })

  it('is paged by next links', async () => {
    const ids = []
    for (let url: unknown = fhir('/Patient?_count=2'); typeof url === 'string';) {
      const page: Reply = await send(url, { headers: { authorization: `Bearer ${running.token}` } })
      ids.push(idsOf(page))
      url = at(page.json, 'link', 1, 'url')
    }
    expect(ids).toEqual([['a', 'b'], ['c']])
  })

  it('takes a form by POST', async () => {
    const headers = { authorization: `Bearer ${running.token}`, 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await send(fhir('/Patient/_search?gender=female'), { method: 'POST', headers, body: 'family=other' })
    expect(idsOf(reply)).toEqual(['c'])
  })

  it('gives what is included beside the matches, which alone count and are cut to _elements', async () => {
    const reply = await get('/Observation?_include=Observation:subject&_elements=status')
    expect(reply.json).toMatchObject({
      total: 1,
      entry: [
        { search: { mode: 'match' }, resource: { id: 'o', status: 'final' } },
        { search: { mode: 'include' }, fullUrl: fhir('/Patient/a'), resource: { id: 'a', gender: 'female' } },
      ],
    })
    expect(idsOf(await get('/Patient?_id=a,b&_revinclude=Observation:subject'))).toEqual(['a', 'b', 'o'])
  })

  it('leaves out what its caller may not read, and needs the right to search what refers', async () => {
    const { token } = await running.sessions.create({ user: 'bob', scopes: ['user/Observation.rs'] })
    expect(idsOf(await get('/Observation?_include=Observation:subject', token))).toEqual(['o'])
    const { token: other } = await running.sessions.create({ user: 'bob', scopes: ['user/Patient.rs'] })
    expect((await get('/Patient?_revinclude=Observation:subject', other)).status).toBe(403)
  })

  it('a resource and a version of it are given as far as _elements or _summary ask', async () => {
    for (const path of ['/Patient/a', '/Patient/a/_history/1']) {
      expect(Object.keys((await get(`${path}?_elements=gender`)).json as object)).toEqual(['resourceType', 'id', 'meta', 'gender'])
      expect((await get(`${path}?_summary=data`)).json).toMatchObject({ gender: 'female', meta: { tag: [{ code: 'SUBSETTED' }] } })
      expect(at((await get(`${path}?_summary=text`)).json, 'gender')).toBeUndefined()
      expect((await get(`${path}?_summary=count`)).status).toBe(400)
      expect((await get(`${path}?_summary=x`)).status).toBe(400)
    }
  })

  it('passes over what is not known when it is asked to be lenient, and says so in the link', async () => {
    const lenient = (path: string): Promise<Reply> =>
      send(fhir(path), { headers: { authorization: `Bearer ${running.token}`, prefer: 'return=minimal; handling=lenient' } })
    const reply = await lenient('/Patient?nothing=x&_score=1&constructor.name=x&family=other&_count=5')
    expect(idsOf(reply)).toEqual(['c'])
    expect(at(reply.json, 'link', 0, 'url')).toBe(fhir('/Patient?family=other&_count=5'))
    const several = await lenient('?_type=Patient,Observation&family=other&_id=a')
    expect(idsOf(several)).toEqual(['a'])
    // What is known must be right all the same.
    for (const wrong of ['family:nothing=x', 'birthdate=x', 'organization.nothing=x', '_has:x=y', '_sort=nothing', '_include=x']) {
      expect((await lenient(`/Patient?${wrong}`)).status, wrong).toBe(400)
    }
    expect((await get('/Patient?nothing=x')).status).toBe(400)
  })

  it.each([
    ['POST', '/Patient?_elements=gender', {}],
    ['POST', '/Patient?_elements=gender', { 'if-none-exist': 'identifier=shaped' }],
    ['PUT', '/Patient/shaped?_elements=gender', {}],
    ['PUT', '/Patient?identifier=shaped&_elements=gender', {}],
  ])('what %s %s stores is whole, and answered as far as _elements asks', async (method, path, headers) => {
    const resource = { resourceType: 'Patient', id: 'shaped', identifier: [{ value: 'shaped' }], gender: 'other' }
    const reply = await send(fhir(path), {
      method,
      headers: { ...fhirHeaders(running.token), ...headers },
      body: JSON.stringify(resource),
    })
    const id = at(reply.json, 'id')
    expect(Object.keys(reply.json as object)).toEqual(['resourceType', 'id', 'meta', 'gender'])
    expect(at(reply.json, 'meta', 'tag', 0, 'code')).toBe('SUBSETTED')
    const kept = (await get(`/Patient/${String(id)}`)).json
    expect([at(kept, 'identifier'), at(kept, 'meta', 'tag')]).toEqual([resource.identifier, undefined])
    const headersOfDelete = { authorization: `Bearer ${running.token}` }
    await send(fhir(`/Patient/${String(id)}`), { method: 'DELETE', headers: headersOfDelete })
  })

  it('a patch and the writes of a Bundle are answered as far as _summary asks', async () => {
    const resource = { resourceType: 'Patient', id: 'part', gender: 'other', contact: [{ name: { text: 'c' } }] }
    const entry = [{ resource, request: { method: 'PUT', url: 'Patient/part?_summary=true' } }]
    for (const type of ['transaction', 'batch']) {
      const { json } = await post('', { resourceType: 'Bundle', type, entry })
      expect(at(json, 'entry', 0, 'resource')).toMatchObject({ gender: 'other', meta: { tag: [{ code: 'SUBSETTED' }] } })
      expect(at(json, 'entry', 0, 'resource', 'contact')).toBeUndefined()
    }
    const patched = await send(fhir('/Patient/part?_summary=true'), {
      method: 'PATCH',
      headers: { ...fhirHeaders(running.token), 'content-type': 'application/json-patch+json' },
      body: '[{"op":"add","path":"/active","value":true}]',
    })
    expect([at(patched.json, 'active'), at(patched.json, 'contact')]).toEqual([true, undefined])
    expect((await get('/Patient/part')).json).toMatchObject({ ...resource, active: true })
    await send(fhir('/Patient/part?_summary=true'), { method: 'DELETE', headers: { authorization: `Bearer ${running.token}` } })
    expect((await get('/Patient/part')).status).toBe(410)
  })

  it.each(['_summary=some', '_summary=count', '_elements=naem', '_summary=true&_elements=gender'])(
    'a write with %s is refused before anything is stored',
    async (query) => {
      expect((await post(`/Patient/never?${query}`, { resourceType: 'Patient', id: 'never' }, 'PUT')).status).toBe(400)
      expect((await get('/Patient/never')).status).toBe(404)
    },
  )

  it('criteria do not consist of _summary', async () => {
    expect(
      (await send(fhir('/Patient?_summary=true'), { method: 'DELETE', headers: { authorization: `Bearer ${running.token}` } })).status,
    ).toBe(400)
    expect(idsOf(await get('/Patient'))).toEqual(['a', 'b', 'c'])
  })

  it('metadata is given as far as _summary or _elements asks', async () => {
    const { json } = await get('/metadata?_summary=true')
    expect(json).toMatchObject({ fhirVersion: '4.0.1', meta: { tag: [{ code: 'SUBSETTED' }] } })
    expect(at(json, 'rest', 0, 'documentation')).toBeUndefined()
    expect(Object.keys(at(json, 'rest', 0, 'resource', 0) as object)).toEqual(['type', 'operation'])
    expect(Object.keys((await get('/metadata?_elements=fhirVersion')).json as object)).toEqual([
      'resourceType',
      'id',
      'fhirVersion',
      'meta',
    ])
    expect(at((await get('/metadata?mode=terminology&_summary=data')).json, 'meta', 'tag', 0, 'code')).toBe('SUBSETTED')
    expect(at((await get('/metadata?_summary=false')).json, 'meta')).toBeUndefined()
    for (const query of ['_summary=some', '_summary=count', '_elements=naem', '_summary=true&mode=nonsense'])
      expect((await get(`/metadata?${query}`)).status).toBe(400)
  })

  it.each(['_summary=count', '_count=0'])('%s gives the number only', async (query) => {
    expect((await get(`/Patient?${query}`)).json).toMatchObject({ total: 3 })
    expect((await get(`/Patient?${query}`)).text).not.toContain('entry')
  })

  it('_elements keeps what was asked for, and says so', async () => {
    const reply = await get('/Observation?_elements=valueQuantity')
    expect(reply.text).toContain('"valueQuantity":{"value":1.50}')
    expect(at(reply.json, 'entry', 0, 'resource')).toEqual({
      resourceType: 'Observation',
      id: 'o',
      meta: expect.objectContaining({ versionId: '1', tag: [expect.objectContaining({ code: 'SUBSETTED' })] }),
      valueQuantity: { value: 1.5 },
    })
  })

  it('_elements names an element with a choice of types with or without the type, and what one of several types has', async () => {
    const value = { value: 1.5 }
    expect(at((await get('/Observation?_elements=value')).json, 'entry', 0, 'resource', 'valueQuantity')).toEqual(value)
    expect(at((await get('/Observation/o?_elements=value')).json, 'valueQuantity')).toEqual(value)
    expect((await get('?_type=Patient,Observation&_elements=gender,status')).status).toBe(200)
    expect((await get('/Patient?_elements=resourceType,id,meta,extension')).status).toBe(200)
    expect((await get('/Bot?_elements=naem')).status).toBe(200)
  })

  it.each([
    ['/Patient?_elements=id,naem', "Search parameter '_elements' names 'naem', which is not an element of Patient. Did you mean 'name'?"],
    ['/Patient/a?_elements=constructor', "Search parameter '_elements' names 'constructor', which is not an element of Patient."],
    ['?_type=Patient,Observation&_elements=valueQuantiti', 'not an element of the types that are searched. Did you mean'],
  ])('an element that there is not is refused by name: %s', async (path, message) => {
    const { status, text } = await get(path)
    expect([status, text]).toEqual([400, expect.stringContaining(message)])
  })

  it('is narrowed to a compartment by the path', async () => {
    expect(idsOf(await get('/Patient/a/Observation'))).toEqual(['o'])
    expect(idsOf(await get('/Patient/b/Observation'))).toBeUndefined()
    expect(idsOf(await get('/Patient/a/Observation?status=preliminary'))).toBeUndefined()
    const headers = { authorization: `Bearer ${running.token}`, 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await send(fhir('/Patient/a/Observation/_search'), { method: 'POST', headers, body: 'status=final' })
    expect(reply.json).toMatchObject({ total: 1, link: [{ url: fhir('/Patient/a/Observation?status=final') }] })
  })

  it('in the compartment of an Encounter finds the Encounter itself', async () => {
    await post('/Encounter/e', { resourceType: 'Encounter', id: 'e' }, 'PUT')
    expect(idsOf(await get('/Encounter/e/Encounter'))).toEqual(['e'])
  })

  it.each(['/Patient/a/ValueSet', '/Patient/a/constructor', '/Observation/o/Patient'])('%s is not found', async (path) => {
    expect((await get(path)).status).toBe(404)
  })

  it('in a compartment needs the right to search its members', async () => {
    const { token } = await running.sessions.create({ user: 'bob', scopes: ['user/Patient.rs'] })
    expect((await get('/Patient/a/Observation', token)).status).toBe(403)
  })

  it.each([
    ['true', ['contact', 'language', 'telecom'], ['active', 'id', 'link', 'meta', 'resourceType']],
    ['text', ['active', 'contact', 'link'], ['id', 'meta', 'resourceType', 'text']],
    ['data', ['text'], ['active', 'contact', 'id', 'language', 'link', 'meta', 'resourceType']],
  ])('_summary=%s gives a part, and says so', async (summary, without, members) => {
    const link = [{ other: { reference: 'Patient/a' }, type: 'seealso' }]
    const text = { status: 'generated', div: '<div>x</div>' }
    await post(
      '/Patient/s',
      { resourceType: 'Patient', id: 's', language: 'en', text, active: true, contact: [{ name: { text: 'c' } }], link },
      'PUT',
    )
    const resource = at((await get(`/Patient?_id=s&_summary=${summary}`)).json, 'entry', 0, 'resource')
    await send(fhir('/Patient/s'), { method: 'DELETE', headers: { authorization: `Bearer ${running.token}` } })
    expect(Object.keys(resource ?? {}).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(members)
    expect(without.filter((name) => at(resource, name) !== undefined)).toEqual([])
    expect(at(resource, 'meta', 'tag', 0, 'code')).toBe('SUBSETTED')
  })

  it('_summary=true looks into the parts of a resource, keeps digits, and knows elements with a choice of types', async () => {
    const { text } = await get('/Observation?_summary=true')
    expect(text).toContain('"valueQuantity":{"value":1.50}')
    expect((await get('/Bot?_summary=true')).status).toBe(400)
  })

  it.each([
    ['/Patient?_summary=text&_include=*', 400],
    ['/Patient?_summary=true&_elements=name', 400],
    ['/Patient?_elements=naem', 400],
    ['/Patient/a?_elements=naem', 400],
    ['?_type=Patient,Observation&_elements=naem', 400],
    ['/Patient?nonsense=1', 400],
    ['/Patient?constructor=1', 400],
    ['/Patient?_count=x', 400],
    ['/Patient?_count=-1', 400],
    ['/Patient?_cursor=nonsense', 400],
    ['/Patient?_include=nonsense', 400],
    ['/Patient?family=%ff', 400],
    ['/constructor', 404],
    ['/__proto__', 404],
  ])('%s is refused', async (path, status) => {
    const reply = await get(path)
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
  })

  it('needs the right to search every type that a chain or a list looks at', async () => {
    const { token } = await running.sessions.create({ user: 'bob', scopes: ['user/Observation.rs'] })
    expect((await get('/Observation?status=final', token)).status).toBe(200)
    expect((await get('/Observation?subject:Patient.family=muster', token)).status).toBe(403)
    expect((await get('/Observation?_list=x', token)).status).toBe(403)
    expect(idsOf(await get('/Observation?subject:Patient.family=muster'))).toEqual(['o'])
  })
})

describe('batch', () => {
  const batch = (...entry: unknown[]): Promise<Reply> => post('', { resourceType: 'Bundle', type: 'batch', entry })
  const request = (method: string, url: string, resource?: unknown): unknown => ({ request: { method, url }, resource })

  it('answers each entry by itself', async () => {
    const reply = await batch(
      request('PUT', 'Patient/batched', { resourceType: 'Patient', id: 'batched' }),
      request('GET', 'Patient/batched'),
      request('GET', 'Patient/nobody'),
      request('PATCH', 'Patient/batched'),
      request('POST', 'Patient', { resourceType: 'Observation' }),
      request('GET', 'Patient?family=other&_summary=count'),
      request('DELETE', 'Patient/batched'),
      'nonsense',
    )
    expect(reply.status).toBe(200)
    expect((at(reply.json, 'entry') as unknown[]).map((entry) => at(entry, 'response', 'status'))).toEqual([
      '201',
      '200',
      '404',
      '400',
      '400',
      '200',
      '204',
      '400',
    ])
    expect(at(reply.json, 'entry', 0, 'response', 'etag')).toBe('W/"1"')
    expect(at(reply.json, 'entry', 2, 'response', 'outcome', 'issue', 0, 'code')).toBe('not-found')
    expect(at(reply.json, 'entry', 5, 'resource', 'total')).toBe(1)
  })

  it('searches all types, answers HEAD without the resource, and holds no other Bundle', async () => {
    const reply = await batch(
      request('GET', '?_type=Patient&_summary=count'),
      request('HEAD', 'Patient/a'),
      request('HEAD', 'Patient/nobody'),
      request('POST', 'x/..', { resourceType: 'Bundle', type: 'batch' }),
    )
    expect(at(reply.json, 'entry', 0, 'resource', 'total')).toBeGreaterThan(0)
    expect(at(reply.json, 'entry', 1)).toEqual({ response: expect.objectContaining({ status: '200', etag: 'W/"1"' }) })
    expect(at(reply.json, 'entry', 2)).toEqual({ response: { status: '404' } })
    expect(at(reply.json, 'entry', 3, 'response', 'status')).toBe('422')
  })

  it('gives what changed only, where an entry asks so', async () => {
    const since = (ifModifiedSince: string): unknown => ({ request: { method: 'GET', url: 'Patient/a', ifModifiedSince } })
    const reply = await batch(since('2001-01-01T00:00:00Z'), since('2999-01-01T00:00:00Z'))
    expect([0, 1].map((index) => at(reply.json, 'entry', index, 'response', 'status'))).toEqual(['200', '304'])
  })

  it.each([
    ['PUT', 'Patient/unwritten', { ifMatch: 1 }],
    ['PUT', 'Patient/unwritten', { ifNoneMatch: ['*'] }],
    ['POST', 'Patient', { ifNoneExist: null }],
    ['POST', 'Patient', { ifNoneExist: {} }],
  ])('%s %s does not pass over the condition %j', async (method, url, condition) => {
    const entry = {
      request: { method, url, ...condition },
      resource: { resourceType: 'Patient', id: 'unwritten', name: [{ text: 'unwritten' }] },
    }
    expect(at((await batch(entry)).json, 'entry', 0, 'response', 'outcome', 'issue', 0, 'code')).toBe('structure')
    const whole = await post('', { resourceType: 'Bundle', type: 'transaction', entry: [entry] })
    expect([whole.status, at(whole.json, 'issue', 0, 'expression', 0)]).toEqual([400, expect.stringContaining('Bundle.entry[0]')])
    expect(idsOf(await get('/Patient?name=unwritten'))).toBeUndefined()
  })

  it('keeps the digits of numbers', async () => {
    const body =
      '{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"PUT","url":"Basic/n"},"resource":{"resourceType":"Basic","id":"n","x":1.10}}]}'
    expect((await post('', body)).text).toContain('"x":1.10')
  })

  it('is allowed what its caller is allowed', async () => {
    const { token } = await running.sessions.create({ user: 'bob', scopes: ['user/Patient.r'] })
    const body = JSON.stringify({
      resourceType: 'Bundle',
      type: 'batch',
      entry: [request('GET', 'Patient/a'), request('DELETE', 'Patient/a')],
    })
    const reply = await send(fhir(''), { method: 'POST', headers: fhirHeaders(token), body })
    expect((at(reply.json, 'entry') as unknown[]).map((entry) => at(entry, 'response', 'status'))).toEqual(['200', '403'])
  })

  it.each([
    '../../auth/me',
    '/auth/me',
    'http://evil.example/x',
    '//evil.example',
    '',
    'x/../..',
    'Patient/%ff',
    'Patient/a\n',
    '\t?_type=Patient',
  ])('cannot leave the FHIR base: %s', async (url) => {
    const reply = await batch({ request: { method: 'GET', url } }, request('POST', url, { resourceType: 'Bundle', type: 'batch' }))
    const statuses = (at(reply.json, 'entry') as unknown[]).map((entry) => Number(at(entry, 'response', 'status')))
    expect(
      statuses.every((status) => [400, 404, 405, 422].includes(status)),
      String(statuses),
    ).toBe(true)
  })

  it.each([
    [{ resourceType: 'Bundle', type: 'collection' }, 400, 'structure'],
    [{ resourceType: 'Bundle', type: 'batch', entry: {} }, 400, 'structure'],
    [{ resourceType: 'Patient' }, 400, 'structure'],
  ])('refuses %j', async (body, status, code) => {
    const reply = await post('', body)
    expect([reply.status, at(reply.json, 'issue', 0, 'code')]).toEqual([status, code])
  })
})

describe('search over several types', () => {
  const addresses = ({ json }: Reply): unknown =>
    ((at(json, 'entry') as unknown[] | undefined) ?? []).map(
      (entry) => `${at(entry, 'resource', 'resourceType')}/${at(entry, 'resource', 'id')}`,
    )

  it('goes through the types in order, in pages that join', async () => {
    for (const count of [1, 2, 3, 4, 5]) {
      const found = []
      for (let url: unknown = fhir(`/?_type=Patient,Observation&_count=${count}`); typeof url === 'string';) {
        const page: Reply = await send(url, { headers: { authorization: `Bearer ${running.token}` } })
        expect(at(page.json, 'total')).toBe(4)
        found.push(addresses(page))
        url = at(page.json, 'link', 1, 'url')
      }
      expect(found.flat()).toEqual(['Observation/o', 'Patient/a', 'Patient/b', 'Patient/c'])
      expect(found).toHaveLength(Math.ceil(4 / count))
    }
  })

  it('takes what all types have, by GET and by POST, and leaves bots apart', async () => {
    expect(addresses(await get('?_id=a,o,b'))).toEqual(['Observation/o', 'Patient/a', 'Patient/b'])
    const headers = { authorization: `Bearer ${running.token}`, 'content-type': 'application/x-www-form-urlencoded' }
    expect(addresses(await send(fhir('/_search'), { method: 'POST', headers, body: '_id=c&_type=Patient' }))).toEqual(['Patient/c'])
    expect((await get('?_id=a&_summary=count')).json).toMatchObject({ total: 1 })
    expect((await get('?_type=Bot')).status).toBe(400)
  })

  it('cuts each type to what is asked of it', async () => {
    const reply = await get('?_type=Patient,Observation&_id=a,o&_summary=true')
    expect(at(reply.json, 'entry', 0, 'resource', 'valueQuantity')).toEqual({ value: 1.5 })
    expect(at(reply.json, 'entry', 1, 'resource', 'gender')).toBe('female')
  })

  it('sorts the matches of all types together, in pages that join', async () => {
    const found = []
    for (let url: unknown = fhir('/?_type=Patient,Observation&_sort=-_id&_count=1'); typeof url === 'string';) {
      const page: Reply = await send(url, { headers: { authorization: `Bearer ${running.token}` } })
      found.push(addresses(page))
      url = at(page.json, 'link', 1, 'url')
    }
    expect(found).toEqual([['Observation/o'], ['Patient/c'], ['Patient/b'], ['Patient/a']])
  })

  it('gives what is included by any of them', async () => {
    const modesOf = ({ json }: Reply): unknown => (at(json, 'entry') as unknown[]).map((entry) => at(entry, 'search', 'mode'))
    for (const include of ['Observation:subject', 'Observation:*', '*']) {
      const reply = await get(`?_type=Patient,Observation&_id=o,b&_include=${include}`)
      expect(addresses(reply)).toEqual(['Observation/o', 'Patient/b', 'Patient/a'])
      expect(modesOf(reply)).toEqual(['match', 'match', 'include'])
    }
    expect(addresses(await get('?_type=Patient,Encounter&_id=a&_revinclude=Observation:subject'))).toEqual(['Patient/a', 'Observation/o'])
  })

  it('finds everything in a compartment', async () => {
    expect(addresses(await get('/Patient/a/*'))).toEqual(['Observation/o'])
    expect(addresses(await get('/Patient/a/*?_type=Observation'))).toEqual(['Observation/o'])
    expect(addresses(await get('/Patient/none/*'))).toEqual([])
  })

  it.each([
    ['?family=x', 400],
    ['?_type=Nothing', 400],
    ['?_type=Patient,Observation&_sort=family', 400],
    ['?_type=Patient&_include=Observation:subject', 400],
    ['?_type=Patient,Observation&_sort=_id&_cursor=x', 400],
    ['?_type=Patient&_cursor=x', 400],
    ['?_type=Patient&_cursor=Observation', 400],
    ['?_type=Patient&_cursor=Patient%20x', 400],
    ['/Patient/a/*?_type=ValueSet', 400],
    ['/Group/a/*', 404],
  ])('refuses %s', async (path, status) => {
    expect((await get(path)).status).toBe(status)
  })

  it('needs the right to search each of them', async () => {
    const { token } = await running.sessions.create({ user: { sub: 'ann' }, scopes: ['system/Patient.s', 'system/Observation.s'] })
    expect((await get('?_type=Patient,Observation', token)).status).toBe(200)
    expect((await get('?_type=Patient,Encounter', token)).status).toBe(403)
    expect((await get('?_id=a', token)).status).toBe(403)
    expect((await get('/Patient/a/*', token)).status).toBe(403)
  })
})

describe('search in a hierarchy', () => {
  beforeAll(async () => {
    const partOf = (id: string | undefined): object => (id === undefined ? {} : { partOf: { reference: `Location/${id}` } })
    for (const [id, above] of [
      ['site', undefined],
      ['ward', 'site'],
      ['room', 'ward'],
      ['other', undefined],
      ['round', 'round'],
    ] as const) {
      await post(`/Location/${id}`, { resourceType: 'Location', id, ...partOf(above) }, 'PUT')
      await post(
        `/Encounter/in-${id}`,
        { resourceType: 'Encounter', id: `in-${id}`, location: [{ location: { reference: `Location/${id}` } }] },
        'PUT',
      )
    }
  })

  it.each([
    ['location:below=Location/ward', ['in-room', 'in-ward']],
    ['location:below=site', ['in-room', 'in-site', 'in-ward']],
    ['location:above=ward', ['in-site', 'in-ward']],
    ['location:below=other,Location/room', ['in-other', 'in-room']],
    ['location:below=round', ['in-round']],
    ['location:below=nowhere', undefined],
  ])('Encounter?%s', async (query, ids) => {
    expect(idsOf(await get(`/Encounter?${query}`))).toEqual(ids)
  })

  it('is about the type itself, too', async () => {
    expect(idsOf(await get('/Location?partof:below=site'))).toEqual(['room', 'ward'])
  })

  it.each(['/Encounter?subject:below=Patient/a', '/Encounter?location:below=Patient/a', '/Encounter?location:below=a/b'])(
    'refuses %s',
    async (path) => {
      expect((await get(path)).status).toBe(400)
    },
  )

  it('needs the right to search what the hierarchy is of', async () => {
    const { token } = await running.sessions.create({ user: { sub: 'ann' }, scopes: ['system/Encounter.s'] })
    expect((await get('/Encounter?location:below=site', token)).status).toBe(403)
  })
})
