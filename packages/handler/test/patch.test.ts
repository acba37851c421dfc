import { r4 } from '@fhir-ops/r4'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JSON_PATCH, PATIENT, patchedService, type PatchedService, type Setup } from './patched-service.js'
import { at, type Reply } from './running-server.js'

let service: PatchedService
beforeEach(async () => {
  service = await patchedService()
})
afterEach(() => service[Symbol.asyncDispose]())
const ask: PatchedService['ask'] = (...asked) => service.ask(...asked)
const patch: PatchedService['patch'] = (...asked) => service.patch(...asked)

/** A service whose storage lets others write first. */
async function remade(beforeWrite: Setup['beforeWrite'] & object): Promise<void> {
  await service[Symbol.asyncDispose]()
  service = await patchedService({ beforeWrite })
}

describe('a patch and versions', () => {
  it.each([
    [{ 'if-match': 'W/"1"' }, 200],
    [{ 'if-match': '"1"' }, 200],
    [{ 'if-match': '1' }, 200],
    [{ 'if-match': '2' }, 412],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': 'W/"7", W/"1"' }, 200],
    [{ 'if-match': 'W/"2"' }, 412],
    [{ 'if-match': 'nonsense' }, 412],
    [{ 'if-none-match': '*' }, 412],
    [{ 'if-none-match': 'W/"9"' }, 200],
    [{ 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 412],
    [{ 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 200],
  ])('%j is answered with %i', async (headers, status) => {
    expect((await patch([{ op: 'replace', path: '/active', value: false }], { headers })).status).toBe(status)
  })

  it('loses none of many changes that are sent at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) => patch([{ op: 'add', path: '/identifier/-', value: { value: String(index) } }])),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(at((await ask('GET', '/Patient/one')).json, 'identifier')).toHaveLength(31)
  })

  it('is made for the version that others have written meanwhile, unless it is for one version only', async () => {
    let changes = 2
    await remade(async (storage) => {
      if (changes-- <= 0) return
      const text = PATIENT.replace('"id":"one"', '"id":"one","meta":{}').replace('"1980-12-10"', `"198${changes}-01-01"`)
      await storage.write([{ op: 'put', type: 'Patient', id: 'one', text, entries: [] }])
    })
    const reply = await patch([{ op: 'replace', path: '/active', value: false }])
    expect([reply.status, at(reply.json, 'birthDate'), at(reply.json, 'meta', 'versionId')]).toEqual([200, '1980-01-01', '4'])
    changes = 1
    expect((await patch([], { headers: { 'if-match': 'W/"4"' } })).status).toBe(412)
  })

  it('is 404 where there is nothing, and 410 after a deletion', async () => {
    expect((await ask('PATCH', '/Patient/none', { text: '[]' })).status).toBe(404)
    await ask('DELETE', '/Patient/one')
    expect((await patch([])).status).toBe(410)
  })
})

describe('conditional patch', () => {
  it.each([
    ['identifier=x', 200],
    ['identifier=y', 404],
    ['', 400],
    ['nonsense=1', 400],
    ['active=true', 412],
  ])('with the criteria %j is answered with %i', async (query, status) => {
    await ask('PUT', '/Patient/two', { text: '{"resourceType":"Patient","id":"two","active":true}', type: 'application/fhir+json' })
    const reply = await ask('PATCH', `/Patient?${query}`, { text: '[{"op":"replace","path":"/active","value":false}]' })
    expect(reply.status).toBe(status)
    if (status === 200) expect(at(reply.json, 'id')).toBe('one')
  })
})

describe('a patch in a Bundle', () => {
  const data = (operations: unknown): string => Buffer.from(JSON.stringify(operations)).toString('base64')
  const entry = (operations: unknown, request: object = {}): object => ({
    resource: { resourceType: 'Binary', contentType: JSON_PATCH, data: data(operations) },
    request: { method: 'PATCH', url: 'Patient/one', ...request },
  })
  const bundle = (type: string, ...entries: object[]): Promise<Reply> =>
    ask('POST', '', { text: JSON.stringify({ resourceType: 'Bundle', type, entry: entries }), type: 'application/fhir+json' })
  const off = [{ op: 'replace', path: '/active', value: false }]
  const statuses = ({ json }: Reply): unknown => (at(json, 'entry') as object[]).map((one) => at(one, 'response', 'status'))

  it('is taken from a Binary, or from Parameters, each entry for itself in a batch', async () => {
    const parts = [
      { name: 'type', valueCode: 'delete' },
      { name: 'path', valueString: 'Patient.birthDate' },
    ]
    const reply = await bundle(
      'batch',
      entry(off),
      {
        resource: { resourceType: 'Parameters', parameter: [{ name: 'operation', part: parts }] },
        request: { method: 'PATCH', url: 'Patient/one' },
      },
      entry([{ op: 'remove', path: '/nothing' }]),
      entry(off, { ifMatch: 'W/"1"' }),
      entry(off, { url: 'Patient?identifier=x' }),
      { resource: { resourceType: 'Binary', contentType: JSON_PATCH, data: '!' }, request: { method: 'PATCH', url: 'Patient/one' } },
      {
        resource: { resourceType: 'Binary', contentType: 'text/plain', data: data(off) },
        request: { method: 'PATCH', url: 'Patient/one' },
      },
      { request: { method: 'PATCH', url: 'Patient/one' } },
    )
    expect(statuses(reply)).toEqual(['200', '200', '409', '412', '200', '400', '415', '400'])
    expect(at((await ask('GET', '/Patient/one')).json, 'birthDate')).toBeUndefined()
  })

  it('is part of a transaction, with links to what the transaction makes', async () => {
    const reply = await bundle(
      'transaction',
      entry([{ op: 'add', path: '/managingOrganization', value: { reference: 'urn:uuid:11111111-1111-4111-8111-111111111111' } }]),
      {
        fullUrl: 'urn:uuid:11111111-1111-4111-8111-111111111111',
        resource: { resourceType: 'Organization', name: 'o' },
        request: { method: 'POST', url: 'Organization' },
      },
    )
    expect(statuses(reply)).toEqual(['200', '201'])
    const id = String(at(reply.json, 'entry', 1, 'resource', 'id'))
    expect(at((await ask('GET', '/Patient/one')).json, 'managingOrganization', 'reference')).toBe(`Organization/${id}`)
  })

  it('lets nothing be written when it fails', async () => {
    const create = { resource: { resourceType: 'Organization', name: 'o' }, request: { method: 'POST', url: 'Organization' } }
    const reply = await bundle('transaction', create, entry([{ op: 'remove', path: '/nothing' }]))
    expect([reply.status, at(reply.json, 'issue', 0, 'expression', 0)]).toEqual([409, 'Bundle.entry[1]'])
    expect(at((await ask('GET', '/Organization?_summary=count')).json, 'total')).toBe(0)
    expect((await bundle('transaction', entry(off), entry(off))).status).toBe(400)
  })

  it('is made for the version that others have written meanwhile', async () => {
    let changes = 1
    await remade(async (storage) => {
      if (changes-- <= 0) return
      const text = '{"resourceType":"Patient","id":"one","meta":{},"active":true,"gender":"other"}'
      await storage.write([{ op: 'put', type: 'Patient', id: 'one', text, entries: [] }])
    })
    const reply = await bundle('transaction', entry(off))
    expect(statuses(reply)).toEqual(['200'])
    expect(at(reply.json, 'entry', 0, 'resource')).toMatchObject({ active: false, gender: 'other' })
  })
})

describe('who may patch', () => {
  const tokenFor: PatchedService['tokenFor'] = (...scopes) => service.tokenFor(...scopes)
  const off = [{ op: 'replace', path: '/active', value: false }]

  it.each([
    ['system/Patient.u', off, 200],
    ['system/Patient.write', off, 200],
    ['system/Patient.r', off, 403],
    ['system/Patient.cd', off, 403],
    ['system/Patient.u', [{ op: 'test', path: '/active', value: true }], 403],
    ['system/Patient.ru', [{ op: 'test', path: '/active', value: true }], 200],
    ['system/Patient.u', [{ op: 'copy', from: '/name/0/family', path: '/birthDate' }], 403],
    ['system/Patient.u', [{ op: 'move', from: '/name/0/family', path: '/birthDate' }], 403],
  ])('%s with %j is answered with %i', async (scope, operations, status) => {
    expect((await patch(operations, { token: await tokenFor(scope) })).status).toBe(status)
  })

  it('shows the resource to those only who may read it', async () => {
    expect((await patch(off, { token: await tokenFor('system/Patient.u') })).text).toBe('')
    expect((await patch(off, { token: await tokenFor('system/Patient.ru') })).text).toContain('Lovell')
  })

  it('tells those who may not read that the result is not valid, and not why', async () => {
    await service[Symbol.asyncDispose]()
    service = await patchedService({ context: r4() })
    const invalid = [{ op: 'add', path: '/birthDate', value: 'secret' }]
    const blind = await patch(invalid, { token: await tokenFor('system/Patient.u') })
    expect([blind.status, blind.text.includes('is not valid'), blind.text.includes('secret')]).toEqual([422, true, false])
    expect((await patch(invalid, { token: await tokenFor('system/Patient.ru') })).text).toContain('secret')
  })

  it('takes no paths, which may ask, from those who may not read', async () => {
    const text = JSON.stringify({ resourceType: 'Parameters', parameter: [] })
    const reply = await ask('PATCH', '/Patient/one', { text, type: 'application/fhir+json', token: await tokenFor('system/Patient.u') })
    expect(reply.status).toBe(403)
  })

  it('keeps within the part of a type that a scope grants', async () => {
    const token = await tokenFor('system/Patient.ru?identifier=x')
    expect((await patch(off, { token })).status).toBe(200)
    expect((await patch([{ op: 'replace', path: '/identifier/0/value', value: 'y' }], { token })).status).toBe(403)
    await ask('PUT', '/Patient/two', { text: '{"resourceType":"Patient","id":"two"}', type: 'application/fhir+json' })
    expect((await ask('PATCH', '/Patient/two', { text: '[]', token })).status).toBe(404)
  })
})

describe('what the service says of patches', () => {
  it('is in the CapabilityStatement, in Allow and in Accept-Patch', async () => {
    const { json } = await ask('GET', '/metadata')
    expect(at(json, 'patchFormat')).toEqual(['application/json-patch+json', 'application/fhir+json'])
    expect(JSON.stringify(at(json, 'rest', 0, 'resource', 0, 'interaction'))).toContain('{"code":"patch"}')
    const { headers } = await ask('OPTIONS', '/Patient/one')
    expect([headers.allow, headers['accept-patch']]).toEqual([
      'GET, HEAD, PUT, PATCH, DELETE',
      'application/json-patch+json, application/fhir+json, application/json, application/json+fhir, text/json',
    ])
    for (const type of headers['accept-patch']?.split(', ') ?? [])
      expect((await ask('PATCH', '/Patient/one', { text: '[]', type })).status, type).toBe(200)
  })

  it('honours Prefer', async () => {
    expect((await patch([], { headers: { prefer: 'return=minimal' } })).text).toBe('')
    expect(at((await patch([], { headers: { prefer: 'return=OperationOutcome' } })).json, 'id')).toBe('ok')
  })
})
