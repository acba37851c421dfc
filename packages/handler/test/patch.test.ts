import fastJsonPatch from 'fast-json-patch'
import { createContext } from 'fhir-ops/context'
import { r4 } from '@fhir-ops/r4'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { at, send, startServer, USER, type Reply, type RunningServer } from './running-server.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
let running: RunningServer | undefined

/** Called before each write of the storage. */
let beforeWrite: (storage: Storage) => Promise<void> = async () => {}

beforeEach(async () => {
  await running?.stop()
  beforeWrite = async () => {}
  const kept = memoryStorage()
  const storage: Storage = {
    ...kept,
    async write(entries) {
      await beforeWrite(kept)
      return kept.write(entries)
    },
  }
  running = await startServer({ storage, context: createContext({ storage, search: { parameters } }) })
  await ask('PUT', '/Patient/one', { text: PATIENT, type: 'application/fhir+json' })
})
afterAll(() => running?.stop())

const PATIENT = JSON.stringify({
  resourceType: 'Patient',
  id: 'one',
  identifier: [{ value: 'x' }],
  active: true,
  name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }, { family: 'Old' }],
  birthDate: '1980-12-10',
})

const JSON_PATCH = 'application/json-patch+json'

interface Asked {
  readonly text?: string
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly token?: string
}

function ask(method: string, path: string, { text, type = JSON_PATCH, headers, token }: Asked = {}): Promise<Reply> {
  if (running === undefined) throw new TypeError('There is no server.')
  const all = { authorization: `Bearer ${token ?? running.token}`, 'content-type': type, ...headers }
  return send(`${running.base}/fhir/R4${path}`, { method, headers: all, ...(text !== undefined && { body: text }) })
}

const patch = (operations: unknown, more: Asked = {}): Promise<Reply> =>
  ask('PATCH', '/Patient/one', { text: JSON.stringify(operations), ...more })
const refusal = ({ status, json }: Reply): unknown => [status, at(json, 'issue', 0, 'code')]
const textOf = ({ json }: Reply): string => String(at(json, 'issue', 0, 'details', 'text'))

describe('JSON Patch', () => {
  it('changes parts of a resource and makes its next version', async () => {
    const reply = await patch([
      { op: 'test', path: '/active', value: true },
      { op: 'replace', path: '/active', value: false },
      { op: 'add', path: '/name/0/given/-', value: 'B.' },
      { op: 'remove', path: '/name/1' },
      { op: 'move', from: '/birthDate', path: '/deceasedDateTime' },
      { op: 'copy', from: '/identifier/0', path: '/identifier/0' },
    ])
    expect([reply.status, reply.headers.etag, reply.headers.location?.endsWith('/Patient/one/_history/2')]).toEqual([200, 'W/"2"', true])
    const { meta: _meta, ...resource } = reply.json as Record<string, unknown>
    expect(resource).toEqual({
      resourceType: 'Patient',
      id: 'one',
      identifier: [{ value: 'x' }, { value: 'x' }],
      active: false,
      name: [{ family: 'Lovell', given: ['Ada', 'Jo', 'B.'] }],
      deceasedDateTime: '1980-12-10',
    })
    expect((await ask('GET', '/Patient/one')).text).toBe(reply.text)
  })

  it('keeps the digits of numbers, in what was there and in what is added', async () => {
    const quantity = '{"resourceType":"Observation","id":"o","valueQuantity":{"value":1.00,"unit":"a"},"component":[]}'
    await ask('PUT', '/Observation/o', { text: quantity, type: 'application/fhir+json' })
    const text = '[{"op":"add","path":"/component/-","value":{"valueQuantity":{"value":12345678901234567890.10}}}]'
    const reply = await ask('PATCH', '/Observation/o', { text })
    expect(reply.text).toContain('{"value":1.00,"unit":"a"}')
    expect(reply.text).toContain('{"value":12345678901234567890.10}')
  })

  it.each([
    [{ op: 'replace', path: '/gender', value: 'x' }, 409],
    [{ op: 'remove', path: '/gender' }, 409],
    [{ op: 'remove', path: '/name/2' }, 409],
    [{ op: 'remove', path: '/name/-' }, 409],
    [{ op: 'remove', path: '/name/00' }, 409],
    [{ op: 'remove', path: '/name/-1' }, 409],
    [{ op: 'remove', path: '/name/1e0' }, 409],
    [{ op: 'remove', path: '/active/x' }, 409],
    [{ op: 'add', path: '/name/3', value: {} }, 409],
    [{ op: 'add', path: '/contact/0', value: {} }, 409],
    [{ op: 'add', path: '/constructor/x', value: {} }, 409],
    [{ op: 'add', path: '/toString/x', value: {} }, 409],
    [{ op: 'copy', from: '/gender', path: '/x' }, 409],
    [{ op: 'test', path: '/active', value: false }, 409],
    [{ op: 'test', path: '/active', value: 'true' }, 409],
    [{ op: 'test', path: '/name/0/given', value: ['Jo', 'Ada'] }, 409],
    [{ op: 'test', path: '/name/1', value: { family: 'Old', use: 'old' } }, 409],
    [{ op: 'test', path: '/gender', value: null }, 409],
    [{ op: 'move', from: '/name', path: '/name/0' }, 422],
    [{ op: 'remove', path: '' }, 422],
    [{ op: 'replace', path: '/id', value: 'two' }, 422],
    [{ op: 'remove', path: '/id' }, 422],
    [{ op: 'replace', path: '/resourceType', value: 'Basic' }, 422],
    [{ op: 'replace', path: '', value: [] }, 422],
    [{ op: 'replace', path: '', value: { resourceType: 'Patient' } }, 422],
    [{ op: 'add', path: '/__proto__', value: {} }, 422],
    [{ op: 'add', path: '/constructor', value: {} }, 422],
    [{ op: 'add' }, 400],
    [{ op: 'add', path: '/active' }, 400],
    [{ op: 'add', path: 'active', value: 1 }, 400],
    [{ op: 'add', path: '/~2', value: 1 }, 400],
    [{ op: 'add', path: '/~', value: 1 }, 400],
    [{ op: 'add', path: 3, value: 1 }, 400],
    [{ op: 'move', path: '/active' }, 400],
    [{ op: 'copy', path: '/active', from: null }, 400],
    [{ op: 'spam', path: '/active', value: 1 }, 400],
    [{ path: '/active', value: 1 }, 400],
    [{ op: ['add'], path: '/active', value: 1 }, 400],
    ['x', 400],
    [null, 400],
  ])('refuses %j with %i and changes nothing', async (operation, status) => {
    const reply = await patch(
      [{ op: 'replace', path: '/active', value: false }, operation].slice(status === 409 && isTest(operation) ? 1 : 0),
    )
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
    expect(at((await ask('GET', '/Patient/one')).json, 'meta', 'versionId')).toBe('1')
  })

  function isTest(operation: unknown): boolean {
    return typeof operation === 'object' && operation !== null && Reflect.get(operation, 'op') === 'test'
  }

  it('names the operation and the place that there is not', async () => {
    expect(textOf(await patch([{ op: 'test', path: '', value: {} }]))).toMatch(/^Operation 0 of the patch \(test\) failed/)
    const reply = await patch([
      { op: 'remove', path: '/active' },
      { op: 'remove', path: '/a~1b/~0' },
    ])
    expect(textOf(reply)).toBe("Operation 1 of the patch (remove) cannot be done: there is nothing at '/a~1b/~0'.")
  })

  it.each([
    ['{}', JSON_PATCH, 400],
    ['[', JSON_PATCH, 400],
    ['', JSON_PATCH, 400],
    ['[{"op":"add","op":"remove","path":"/active"}]', JSON_PATCH, 400],
    ['[]', 'application/fhir+json', 200],
    ['{"resourceType":"Patient"}', 'application/fhir+json', 400],
    ['"x"', 'application/json', 400],
    ['[]', 'application/merge-patch+json', 415],
    ['[]', 'text/plain', 415],
    ['<diff/>', 'application/xml-patch+xml', 415],
    ['[]', `${JSON_PATCH}; charset=latin1`, 415],
    ['[]', `${JSON_PATCH}; charset=utf-8`, 200],
    ['[]', 'application/json', 200],
  ])('a body %s of the type %s is answered with %i', async (text, type, status) => {
    const reply = await ask('PATCH', '/Patient/one', { text, type })
    expect(reply.status).toBe(status)
    if (status === 415) expect(reply.headers['accept-patch']).toBe('application/json-patch+json, application/fhir+json, application/json')
  })

  it('is bound in what it can make of a small body', async () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/x${index}` }))
    expect(refusal(await patch(doubling))).toEqual([422, 'too-costly'])
    const nesting = [
      { op: 'add', path: '/x', value: Array.from({ length: 1_000 }, () => ({})) },
      ...Array.from({ length: 999 }, () => ({ op: 'move', from: '/x/0', path: '/x/0/y' })),
    ]
    expect(refusal(await patch(nesting))).toEqual([422, 'processing'])
  })

  it('does what another implementation does', async () => {
    const document = JSON.parse(PATIENT)
    let seed = 42
    const pick = <T>(values: readonly T[]): T => values[(seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % values.length] as T
    const paths = [
      '/active',
      '/name',
      '/name/0',
      '/name/1',
      '/name/-',
      '/name/0/given/0',
      '/name/0/given/-',
      '/x',
      '/x/y',
      '/name/0/family',
    ]
    const values = [1, 'a', null, {}, [], { y: 1 }, [1, 2], 1.5]
    for (let round = 0; round < 300; round++) {
      const operations = Array.from({ length: 1 + (round % 4) }, () => ({
        op: pick(['add', 'remove', 'replace', 'move', 'copy', 'test']),
        path: pick(paths),
        from: pick(paths),
        value: pick(values),
      }))
      await ask('PUT', '/Patient/one', { text: PATIENT, type: 'application/fhir+json' })
      const reply = await patch(operations)
      const expected = appliedElsewhere(document, operations)
      const where = JSON.stringify(operations)
      expect(reply.status === 200, where).toBe(expected !== undefined)
      if (expected !== undefined) expect({ ...(reply.json as object), meta: undefined }, where).toEqual({ ...expected, meta: undefined })
    }
  })

  function appliedElsewhere(document: object, operations: readonly object[]): object | undefined {
    try {
      const copy: object = structuredClone(document)
      return fastJsonPatch.applyPatch(copy, structuredClone(operations) as never, true).newDocument
    } catch {
      return undefined
    }
  }
})

describe('a patch and versions', () => {
  it.each([
    [{ 'if-match': 'W/"1"' }, 200],
    [{ 'if-match': '"1"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': 'W/"7", W/"1"' }, 200],
    [{ 'if-match': 'W/"2"' }, 412],
    [{ 'if-match': 'nonsense' }, 412],
    [{ 'if-none-match': '*' }, 412],
    [{ 'if-none-match': 'W/"9"' }, 200],
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
    beforeWrite = async (storage) => {
      if (changes-- <= 0) return
      const text = PATIENT.replace('"id":"one"', '"id":"one","meta":{}').replace('"1980-12-10"', `"198${changes}-01-01"`)
      await storage.write([{ op: 'put', type: 'Patient', id: 'one', text, entries: [] }])
    }
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

describe('FHIRPath Patch', () => {
  const operation = (parts: Record<string, unknown>): object => ({
    name: 'operation',
    part: Object.entries(parts).map(([name, value]) =>
      typeof value === 'object'
        ? { name, ...value }
        : typeof value === 'number'
          ? { name, valueInteger: value }
          : { name, valueString: value },
    ),
  })
  const pathPatch = (...operations: Record<string, unknown>[]): Promise<Reply> =>
    patch({ resourceType: 'Parameters', parameter: operations.map(operation) }, { type: 'application/fhir+json' })

  it.each([
    [{ type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'female' } }, { gender: 'female' }],
    [{ type: 'add', path: 'Patient', name: 'deceased', value: { valueBoolean: false } }, { deceasedBoolean: false }],
    [
      { type: 'add', path: 'Patient.name[0]', name: 'given', value: { valueString: 'X' } },
      { name: [{ family: 'Lovell', given: ['Ada', 'Jo', 'X'] }, { family: 'Old' }] },
    ],
    [
      { type: 'insert', path: 'Patient.name[0].given', index: 1, value: { valueString: 'X' } },
      { name: [{ family: 'Lovell', given: ['Ada', 'X', 'Jo'] }, { family: 'Old' }] },
    ],
    [{ type: 'delete', path: "Patient.name.where(family = 'Old')" }, { name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }] }],
    [{ type: 'delete', path: 'Patient.gender' }, {}],
    [{ type: 'delete', path: 'Patient.identifier[0]' }, { identifier: undefined }],
    [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1981-01-01' } }, { birthDate: '1981-01-01' }],
    [
      { type: 'replace', path: 'Patient.name[1]', value: { valueHumanName: { text: 'New' } } },
      { name: [{ family: 'Lovell', given: ['Ada', 'Jo'] }, { text: 'New' }] },
    ],
    [
      { type: 'move', path: 'Patient.name', source: 1, destination: 0 },
      { name: [{ family: 'Old' }, { family: 'Lovell', given: ['Ada', 'Jo'] }] },
    ],
    [
      {
        type: 'add',
        path: 'Patient',
        name: 'contact',
        value: {
          part: [
            { name: 'name', valueHumanName: { text: 'a' } },
            { name: 'telecom', valueContactPoint: { value: '1' } },
            { name: 'telecom', valueContactPoint: { value: '2' } },
          ],
        },
      },
      { contact: [{ name: { text: 'a' }, telecom: [{ value: '1' }, { value: '2' }] }] },
    ],
    [
      { type: 'add', path: 'Patient', name: 'contained', value: { resource: { resourceType: 'Basic', id: 'c' } } },
      { contained: [{ resourceType: 'Basic', id: 'c' }] },
    ],
    [
      { type: 'add', path: 'Patient.name[0]', name: 'given', value: { _valueString: { extension: [{ url: 'u', valueCode: 'c' }] } } },
      {
        name: [
          { family: 'Lovell', given: ['Ada', 'Jo', null], _given: [null, null, { extension: [{ url: 'u', valueCode: 'c' }] }] },
          { family: 'Old' },
        ],
      },
    ],
    [
      { type: 'add', path: 'Patient.birthDate', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      { _birthDate: { extension: [{ url: 'u', valueCode: 'c' }] } },
    ],
    [
      { type: 'add', path: 'Patient.name[0].given[1]', name: 'extension', value: { valueExtension: { url: 'u', valueCode: 'c' } } },
      {
        name: [
          { family: 'Lovell', given: ['Ada', 'Jo'], _given: [null, { extension: [{ url: 'u', valueCode: 'c' }] }] },
          { family: 'Old' },
        ],
      },
    ],
  ])('%j gives %j', async (change, expected) => {
    const reply = await pathPatch(change)
    expect([reply.status, reply.text]).toEqual([200, reply.text])
    const { resourceType: _type, ...before } = JSON.parse(PATIENT)
    expect(reply.json).toEqual({ resourceType: 'Patient', ...clean({ ...before, ...expected }), meta: expect.anything() })
  })

  function clean(resource: object): object {
    return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== undefined))
  }

  it('replaces a value of one type by one of another, and each path sees what was changed before', async () => {
    const reply = await pathPatch(
      { type: 'add', path: 'Patient', name: 'multipleBirth', value: { valueBoolean: true } },
      { type: 'replace', path: 'Patient.multipleBirth', value: { valueInteger: 2 } },
      { type: 'delete', path: 'Patient.name[0]' },
      { type: 'delete', path: 'Patient.name[0]' },
    )
    expect(reply.json).toMatchObject({ multipleBirthInteger: 2 })
    expect([at(reply.json, 'multipleBirthBoolean'), at(reply.json, 'name')]).toEqual([undefined, undefined])
  })

  it.each([
    [{ type: 'add', path: 'Patient', name: 'active', value: { valueBoolean: false } }, 409],
    [{ type: 'add', path: 'Patient.contact', name: 'gender', value: { valueCode: 'male' } }, 409],
    [{ type: 'add', path: 'Patient.name', name: 'use', value: { valueCode: 'old' } }, 409],
    [{ type: 'delete', path: 'Patient.name' }, 409],
    [{ type: 'replace', path: 'Patient.gender', value: { valueCode: 'male' } }, 409],
    [{ type: 'insert', path: 'Patient.name', index: 3, value: { valueHumanName: {} } }, 409],
    [{ type: 'insert', path: 'Patient.contact', index: 0, value: { part: [] } }, 409],
    [{ type: 'move', path: 'Patient.name', source: 0, destination: 2 }, 409],
    [{ type: 'add', path: 'Patient', name: 'nonsense', value: { valueBoolean: true } }, 422],
    [{ type: 'add', path: 'Patient', name: 'deceased', value: { valueQuantity: {} } }, 422],
    [{ type: 'add', path: 'Patient', name: 'contact', value: { part: [{ name: 'x', valueString: '' }] } }, 422],
    [{ type: 'insert', path: 'Patient.birthDate', index: 0, value: { valueDate: '2000' } }, 422],
    [{ type: 'replace', path: 'Patient', value: { resource: {} } }, 422],
    [{ type: 'delete', path: '1 + 1' }, 422],
    [{ type: 'delete', path: 'Patient.name.given.first() & 1' }, 422],
    [{ type: 'delete', path: 'Patient.(' }, 422],
    [{ type: 'delete', path: 'Patient.id' }, 422],
    [{ type: 'delete', path: '%resource.nonsense()' }, 422],
    [{ type: 'spam', path: 'Patient' }, 400],
    [{ type: 'delete' }, 400],
    [{ type: 'add', path: 'Patient', name: 'gender' }, 400],
    [{ type: 'insert', path: 'Patient.name', index: -1, value: { valueHumanName: {} } }, 400],
    [{ type: 'move', path: 'Patient.name', source: 0 }, 400],
    [{ type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'male', valueString: 'male' } }, 400],
  ])('refuses %j with %i and changes nothing', async (change, status) => {
    const reply = await pathPatch(change)
    expect([reply.status, at(reply.json, 'resourceType')]).toEqual([status, 'OperationOutcome'])
    expect(at((await ask('GET', '/Patient/one')).json, 'meta', 'versionId')).toBe('1')
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
    expect(statuses(reply)).toEqual(['200', '200', '409', '412', '200', '400', '415', '415'])
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
    beforeWrite = async (storage) => {
      if (changes-- <= 0) return
      const text = '{"resourceType":"Patient","id":"one","meta":{},"active":true,"gender":"other"}'
      await storage.write([{ op: 'put', type: 'Patient', id: 'one', text, entries: [] }])
    }
    const reply = await bundle('transaction', entry(off))
    expect(statuses(reply)).toEqual(['200'])
    expect(at(reply.json, 'entry', 0, 'resource')).toMatchObject({ active: false, gender: 'other' })
  })
})

describe('who may patch', () => {
  const tokenFor = async (...scopes: string[]): Promise<string> => {
    if (running === undefined) throw new TypeError('There is no server.')
    return (await running.sessions.create({ user: USER, scopes })).token
  }
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
    await running?.stop()
    const storage = memoryStorage()
    running = await startServer({ storage, context: createContext({ storage, ...r4() }) })
    await ask('PUT', '/Patient/one', { text: PATIENT, type: 'application/fhir+json' })
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
      'application/json-patch+json, application/fhir+json, application/json',
    ])
  })

  it('honours Prefer', async () => {
    expect((await patch([], { headers: { prefer: 'return=minimal' } })).text).toBe('')
    expect(at((await patch([], { headers: { prefer: 'return=OperationOutcome' } })).json, 'id')).toBe('ok')
  })
})
