import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import type { Storage } from 'fhir-ops/storage'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { at, fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
let running: RunningServer | undefined

beforeEach(async () => {
  await running?.stop()
  const storage = unhurried(memoryStorage())
  running = await startServer({ storage, context: createContext({ storage, search: { parameters } }) })
  await ask('PUT', '/Patient/one', { body: patient('x', 'one') })
  await ask('PUT', '/Patient/two', { body: patient('twice', 'two') })
  await ask('PUT', '/Patient/three', { body: patient('twice', 'three') })
})
afterAll(() => running?.stop())

/** Lets whatever waits for its turn run before each write, so that requests that are sent at once are under way at once. */
function unhurried(storage: Storage): Storage {
  return {
    ...storage,
    async write(entries) {
      together.most = Math.max(together.most, ++together.now)
      await together.gate
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      together.now--
      written.push(...entries.map(({ id }) => id))
      return storage.write(entries)
    },
  }
}

/** Ids in the order in which they were written. */
const written: string[] = []
/** Writes under way, now and at most, and what they wait for. */
const together = { now: 0, most: 0, gate: Promise.resolve() }

interface Asked {
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly token?: string
}

function ask(method: string, path: string, { body, headers, token }: Asked = {}): Promise<Reply> {
  if (running === undefined) throw new TypeError('There is no server.')
  const all = { ...fhirHeaders(token ?? running.token), ...headers }
  return send(`${running.base}/fhir/R4${path}`, { method, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

const patient = (value: string, id?: string): object => ({
  resourceType: 'Patient',
  ...(id !== undefined && { id }),
  identifier: [{ value }],
})
const idOf = ({ json }: Reply): unknown => at(json, 'id')
const refusal = ({ status, json }: Reply): unknown => [status, at(json, 'issue', 0, 'code')]

describe('conditional create', () => {
  const create = (condition: string, value = 'new'): Promise<Reply> =>
    ask('POST', '/Patient', { body: patient(value), headers: { 'if-none-exist': condition } })

  it('stores a resource when none meets the criteria, once', async () => {
    const first = await create('identifier=new')
    const second = await create('?identifier=new')
    expect([first.status, second.status, idOf(second), second.headers.etag]).toEqual([201, 200, idOf(first), 'W/"1"'])
    expect(second.headers.location).toBe(first.headers.location)
  })

  it('takes the whole address of the criteria, as HAPI sends it, and no other one', async () => {
    await create('identifier=new')
    expect((await create(`${running?.base}/fhir/R4/Patient?identifier=new`)).status).toBe(200)
    expect((await create('https://other.example/fhir/R4/Patient?identifier=new')).status).toBe(400)
    expect((await create(`${running?.base}/fhir/R4/Observation?identifier=new`)).status).toBe(400)
  })

  it('is not asked for by criteria in the URL, which would store another one', async () => {
    const reply = await ask('POST', '/Patient?identifier=new', { body: patient('new') })
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('If-None-Exist')])
    expect((await ask('POST', '/Patient?_format=json', { body: patient('new') })).status).toBe(201)
  })

  it('makes one of many that are sent at once', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => create('identifier=new')))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(replies.map(idOf)).size).toBe(1)
  })

  it('does not wait for those that cannot concern it', async () => {
    together.most = 0
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => create(`identifier=n${n}`, `n${n}`)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    expect(together.most).toBeGreaterThan(1)
  })

  it.each([
    ['a resource with another value than that of its criteria', 'identifier=a', 'b', 'identifier=b', 'b'],
    ['criteria with a system', 'identifier=a', 'b', 'identifier=|b', 'b'],
    ['more criteria', 'identifier=a', 'b', 'identifier=b&active:missing=true', 'b'],
    ['criteria without a value', 'identifier=a', 'b', 'identifier=b,c', 'b'],
  ])('sees what one that began before it stores, with %s', async (_, condition, value, other, otherValue) => {
    const gate = Promise.withResolvers<void>()
    together.gate = gate.promise
    const first = create(condition, value)
    await expect.poll(() => together.now).toBe(1)
    const second = create(other, otherValue)
    // It has looked for its criteria by then if it does not wait.
    for (let reads = 0; reads < 3; reads++) await ask('GET', '/Patient/one')
    gate.resolve()
    const replies = await Promise.all([first, second])
    expect(replies.map(({ status }) => status)).toEqual([201, 200])
    expect(new Set(replies.map(idOf)).size).toBe(1)
  })

  it('stores nothing that a resource before it meets the criteria of, whatever is sent at once', async () => {
    written.length = 0
    const sent = Array.from({ length: 60 }, (_, n) => ({ wanted: `v${(n * n) % 7}`, value: `v${(n * 3 + (n % 4)) % 7}` }))
    const replies = await Promise.all(sent.map(({ wanted, value }) => create(`identifier=${wanted}`, value)))
    const made = sent.flatMap((one, n) => (replies[n]?.status === 201 ? [{ ...one, at: written.indexOf(String(idOf(replies[n]))) }] : []))
    const tooLate = made.filter(({ wanted, at: own }) => made.some(({ value, at: other }) => other < own && value === wanted))
    expect(tooLate).toEqual([])
    expect(made.length).toBeGreaterThan(1)
    expect(replies.every(({ status }) => [200, 201, 412].includes(status))).toBe(true)
  })

  it('and a conditional update that are sent at the same time see each other', async () => {
    const update = (): Promise<Reply> => ask('PUT', '/Patient?identifier=new', { body: patient('new') })
    const replies = await Promise.all([create('identifier=new'), update(), create('identifier=new'), update()])
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(replies.map(idOf)).size).toBe(1)
  })

  it.each([
    ['identifier=twice', 412, 'multiple-matches'],
    ['', 400, 'required'],
    ['identifier=x&_count=1', 400, 'not-supported'],
    ['nonsense=1', 400, 'invalid'],
  ])('with the criteria %j is refused', async (condition, status, code) => {
    expect(refusal(await create(condition))).toEqual([status, code])
  })
})

describe('conditional update', () => {
  it.each([
    ['replaces the one match', 'identifier=x', undefined, 200, 'one'],
    ['takes the id of the match', 'identifier=x', 'one', 200, 'one'],
    ['makes a new resource under its id when nothing matches', 'identifier=y', 'mine', 201, 'mine'],
    ['makes a new resource under a new id when nothing matches', 'identifier=y', undefined, 201, expect.stringMatching(/^[\w-]{20,}$/)],
  ])('%s', async (_, query, id, status, expected) => {
    const reply = await ask('PUT', `/Patient?${query}`, { body: patient('z', id) })
    expect([reply.status, idOf(reply)]).toEqual([status, expected])
  })

  it.each([
    ['several matches', 'identifier=twice', undefined, 412, 'multiple-matches'],
    ['an id that is not that of the match', 'identifier=x', 'two', 400, 'structure'],
    ['an id that is taken', 'identifier=y', 'two', 409, 'conflict'],
    ['no criteria', '', undefined, 400, 'required'],
  ])('is refused with %s', async (_, query, id, status, code) => {
    expect(refusal(await ask('PUT', `/Patient?${query}`, { body: patient('z', id) }))).toEqual([status, code])
  })

  it('makes one of many that are sent at once', async () => {
    const update = (): Promise<Reply> => ask('PUT', '/Patient?identifier=new', { body: patient('new') })
    const replies = await Promise.all(Array.from({ length: 10 }, update))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(replies.map(idOf)).size).toBe(1)
  })

  it('honours If-Match', async () => {
    const statuses = []
    for (const match of ['W/"2"', 'W/"1"'])
      statuses.push((await ask('PUT', '/Patient?identifier=x', { body: patient('x'), headers: { 'if-match': match } })).status)
    expect(statuses).toEqual([412, 200])
  })

  it('honours If-None-Match: * as a wish to make a new one only', async () => {
    const headers = { 'if-none-match': '*' }
    const statuses = []
    for (const value of ['x', 'new'])
      statuses.push((await ask('PUT', `/Patient?identifier=${value}`, { body: patient(value), headers })).status)
    expect(statuses).toEqual([412, 201])
  })
})

describe('conditional delete', () => {
  it('deletes the one match, says its version, and succeeds again when there is none', async () => {
    const replies = [await ask('DELETE', '/Patient?identifier=x'), await ask('DELETE', '/Patient?identifier=x')]
    expect(replies.map(({ status, headers }) => [status, headers.etag])).toEqual([
      [204, 'W/"2"'],
      [204, undefined],
    ])
    expect((await ask('GET', '/Patient/one')).status).toBe(410)
  })

  it.each([
    ['?identifier=twice', 412, 'multiple-matches'],
    ['', 400, 'required'],
  ])('with %j is refused and deletes nothing', async (query, status, code) => {
    expect(refusal(await ask('DELETE', `/Patient${query}`))).toEqual([status, code])
    expect((await ask('GET', '/Patient?_summary=count')).json).toMatchObject({ total: 3 })
  })
})

describe('conditional delete of several', () => {
  beforeEach(async () => {
    await running?.stop()
    const storage = memoryStorage()
    running = await startServer({ storage, context: createContext({ storage, search: { parameters } }), limits: { conditionalDeletes: 2 } })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await ask('PUT', `/Patient/${id}`, { body: patient(id < 'c' ? 'twice' : 'thrice', id) })
  })
  const left = async (): Promise<unknown> => at((await ask('GET', '/Patient?_summary=count')).json, 'total')

  it('deletes up to the limit, and none where more are found', async () => {
    expect(refusal(await ask('DELETE', '/Patient?identifier=thrice'))).toEqual([412, 'multiple-matches'])
    expect(await left()).toBe(5)
    const { status, headers } = await ask('DELETE', '/Patient?identifier=twice')
    expect([status, headers.etag, await left()]).toEqual([204, undefined, 3])
  })

  it('deletes none where one may not be deleted, or is not of the expected version', async () => {
    await ask('PUT', '/Patient/b', { body: patient('twice', 'b') })
    expect((await ask('DELETE', '/Patient?identifier=twice', { headers: { 'if-match': 'W/"1"' } })).status).toBe(412)
    expect(await left()).toBe(5)
  })

  it('is an entry of a transaction, too, and told by the CapabilityStatement', async () => {
    const entry = [
      { request: { method: 'DELETE', url: 'Patient?identifier=twice' } },
      { request: { method: 'PUT', url: 'Patient/f' }, resource: patient('f', 'f') },
    ]
    const reply = await ask('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect([at(reply.json, 'entry', 0, 'response', 'status'), at(reply.json, 'entry', 1, 'response', 'status'), await left()]).toEqual([
      '204',
      '201',
      4,
    ])
    const twice = [...entry, { request: { method: 'DELETE', url: 'Patient/c' } }, { request: { method: 'DELETE', url: 'Patient?_id=c' } }]
    expect((await ask('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry: twice } })).status).toBe(400)
    const { json } = await ask('GET', '/metadata')
    expect(at(json, 'rest', 0, 'resource', 0, 'conditionalDelete')).toBe('multiple')
  })
})

describe('a write of a resource by its id', () => {
  const json = { 'content-type': 'application/json-patch+json' }
  it.each<[string, string, Asked]>([
    ['DELETE', '/Patient/one?_cascade=delete', {}],
    ['DELETE', '/Patient/one?_expunge=true', {}],
    ['PUT', '/Patient/one?identifier=x', { body: patient('y', 'one') }],
    ['PATCH', '/Patient/one?identifier=x', { body: [{ op: 'add', path: '/active', value: true }], headers: json }],
  ])('is of that one alone: %s %s is refused by name', async (method, path, asked) => {
    const reply = await ask(method, path, asked)
    expect(refusal(reply)).toEqual([400, 'not-supported'])
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toContain('takes no parameter')
    expect((await ask('GET', '/Patient/one')).headers.etag).toBe('W/"1"')
  })

  it('takes how the answer is to look', async () => {
    expect((await ask('PUT', '/Patient/one?_format=json&_pretty=true', { body: patient('y', 'one') })).status).toBe(200)
  })

  it.each<[string, Record<string, string>, string]>([
    ['one', { 'if-match': 'foo' }, "Patient/one has version 1, but If-Match is 'foo'."],
    ['one', { 'if-match': 'W/"7", W/"8"' }, 'has version 1, but If-Match is'],
    ['one', { 'if-none-match': 'W/"1"' }, 'Patient/one has version 1, but If-None-Match is'],
    ['one', { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 'Patient/one has version 1, but it was changed after'],
    ['none', { 'if-match': '*' }, "Patient/none does not exist, but If-Match is '*'."],
  ])('of %s with %j says why it is not done', async (id, headers, text) => {
    const reply = await ask('PUT', `/Patient/${id}`, { body: patient('y', id), headers })
    expect(refusal(reply)).toEqual([412, 'conflict'])
    expect(at(reply.json, 'issue', 0, 'details', 'text')).toContain(text)
  })

  it.each<Record<string, string>>([
    { 'if-match': 'W/"7", W/"1"' },
    { 'if-match': '*' },
    { 'if-none-match': 'W/"7"' },
    { 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    { 'if-unmodified-since': 'some time ago' },
    { 'if-match': 'W/"1"', 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
  ])('is done with %j', async (headers) => {
    expect((await ask('PUT', '/Patient/one', { body: patient('y', 'one'), headers })).status).toBe(200)
  })

  it('is deleted if it was not changed since', async () => {
    const since = (date: string): object => ({ headers: { 'if-unmodified-since': date } })
    expect((await ask('DELETE', '/Patient/one', since('Mon, 01 Jan 2001 00:00:00 GMT'))).status).toBe(412)
    expect((await ask('DELETE', '/Patient/one', since('Fri, 01 Jan 2100 00:00:00 GMT'))).status).toBe(204)
  })

  it('is not deleted on the condition that it does not exist', async () => {
    const unlessThere = { headers: { 'if-none-match': '*' } }
    expect((await ask('DELETE', '/Patient/one', unlessThere)).status).toBe(412)
    expect((await ask('DELETE', '/Patient/none', unlessThere)).status).toBe(204)
  })
})

describe('conditions', () => {
  it('need the right to search, for every type that they look at', async () => {
    const token = async (...scopes: string[]): Promise<string> => (await running?.sessions.create({ user: 'bob', scopes }))?.token ?? ''
    const status = async (scope: string, path: string): Promise<number> => (await ask('DELETE', path, { token: await token(scope) })).status
    expect(await status('user/Patient.d', '/Patient?identifier=x')).toBe(403)
    expect(await status('user/Patient.ds', '/Patient?general-practitioner:Practitioner.identifier=x')).toBe(403)
    expect(await status('user/Patient.ds', '/Patient?identifier=x')).toBe(204)
  })
})

describe('Prefer', () => {
  it.each([
    ['return=minimal', 201, ''],
    ['return=representation', 201, '"resourceType":"Patient"'],
    ['respond-async; return="OperationOutcome"', 201, '"id":"ok"'],
    ['return=nonsense', 201, '"resourceType":"Patient"'],
  ])('%s', async (prefer, status, text) => {
    const reply = await ask('PUT', '/Patient/p', { body: patient('p', 'p'), headers: { prefer } })
    expect([reply.status, reply.headers.etag, reply.text]).toEqual([status, 'W/"1"', text === '' ? '' : expect.stringContaining(text)])
  })

  it('gives an outcome for a deletion', async () => {
    const reply = await ask('DELETE', '/Patient/one', { headers: { prefer: 'return=OperationOutcome' } })
    expect([reply.status, reply.headers.etag, idOf(reply)]).toEqual([200, 'W/"2"', 'ok'])
  })
})
