import { OPERATIONS } from '@fhir-ops/handler'
import { createContext, forRequest } from 'fhir-ops/context'
import { parametersFromQuery } from 'fhir-ops/internal/parameters'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { describe, expect, it } from 'vitest'
import { delegated, httpStorage, type HttpStorageOptions } from './index.js'

const BASE = 'http://upstream.example/fhir'
const name = Array.from({ length: 100_000 }, (_, n) => ({ family: `Mustermann ${n}`, given: ['Adelheid'] }))
const resource = { resourceType: 'Patient', id: 'a', meta: { versionId: '1', lastUpdated: '2024-01-01T00:00:00Z' }, name }
const entry = { fullUrl: `${BASE}/Patient/a`, resource, search: { mode: 'match' } }
const searchset = { resourceType: 'Bundle', type: 'searchset', link: [{ relation: 'self', url: 'Patient?name=x' }], entry: [entry] }
const history = { resourceType: 'Bundle', type: 'history', entry: [{ request: { method: 'PUT', url: 'Patient/a' }, resource }] }

const headers = { 'content-type': 'application/fhir+json', etag: 'W/"1"' }
const answering = (body: object): { readonly fetch: typeof fetch } => {
  const text = JSON.stringify(body)
  return { fetch: async () => new Response(text, { headers }) }
}
/** Gives no answer, and hears of the end of the call. */
const silent = (): { readonly fetch: typeof fetch; readonly asked: AbortSignal[] } => {
  const asked: AbortSignal[] = []
  const fetch: typeof globalThis.fetch = (_url, init) => {
    const { promise, reject } = Promise.withResolvers<never>()
    if (init?.signal) asked.push(init.signal)
    init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
    return promise
  }
  return { fetch, asked }
}
const storageWith = ({ fetch = globalThis.fetch, callerSignal }: Pick<HttpStorageOptions, 'callerSignal' | 'fetch'>): Storage =>
  httpStorage({ baseUrl: BASE, history: true, timeoutMs: 1_000_000, fetch, callerSignal })

type Call = (storage: Storage) => Promise<unknown>
const read: Call = (storage) => storage.read('Patient', 'a')
const search: Call = (storage) => storage.search({ type: 'Patient', where: { kind: 'and', conditions: [] }, parameters: [['name', 'x']] })
const version: Call = async (storage) => storage.history?.version('Patient', 'a', '1')
const page: Call = async (storage) => storage.history?.page({ types: ['Patient'], id: 'a' })
const put: Call = (storage) =>
  storage.write([{ op: 'put', type: 'Patient', id: 'a', text: '{"resourceType":"Patient","id":"a","meta":{}}', entries: [] }])

/** How often other work ran before the call ended. */
async function turnsDuring(call: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const beat = (): void => {
    turns++
    if (!isOver) setImmediate(beat)
  }
  setImmediate(beat)
  await call.finally(() => (isOver = true))
  return turns
}

describe('a long answer of an upstream', () => {
  it.each<[string, Call, object]>([
    ['a read', read, resource],
    ['a search', search, searchset],
    ['a version', version, resource],
    ['a history', page, history],
    ['a write', put, resource],
  ])('to %s is gone through while other work runs', async (_, call, body) => {
    const quick = await turnsDuring(
      call(storageWith(answering(JSON.parse(JSON.stringify(body, (key, value) => (key === 'name' ? [] : value)))))),
    )
    expect(await turnsDuring(call(storageWith(answering(body))))).toBeGreaterThan(quick + 4)
  })
})

describe('a caller who goes', () => {
  it.each<[string, Call]>([
    ['a read', read],
    ['a search', search],
    ['a history', page],
  ])('ends %s at once', async (_, call) => {
    const caller = new AbortController()
    const upstream = silent()
    const calling = call(storageWith({ ...upstream, callerSignal: () => caller.signal }))
    await expect.poll(() => upstream.asked.length).toBe(1)
    caller.abort()
    await expect(calling).rejects.toMatchObject({ code: 'aborted' })
    expect(upstream.asked[0]?.aborted).toBe(true)
  })

  it('ends the wait before another try', async () => {
    const caller = new AbortController()
    let asked = 0
    const fetch = async (): Promise<Response> => {
      asked++
      setImmediate(() => caller.abort())
      return new Response('', { status: 503, headers: { 'retry-after': '100' } })
    }
    await expect(read(storageWith({ fetch, callerSignal: () => caller.signal }))).rejects.toMatchObject({ code: 'aborted' })
    expect(asked).toBe(1)
  })

  it('ends the reading of a long answer', async () => {
    const caller = new AbortController()
    const reading = read(storageWith({ ...answering(resource), callerSignal: () => caller.signal }))
    setTimeout(() => caller.abort(), 1)
    await expect(reading).rejects.toMatchObject({ code: 'aborted' })
  })

  it('does not end a write, of which nobody would know whether it was done', async () => {
    const caller = new AbortController()
    caller.abort()
    const stored = { resourceType: 'Patient', id: 'a', meta: { versionId: '1' } }
    expect(await put(storageWith({ ...answering(stored), callerSignal: () => caller.signal }))).toMatchObject([{ versionId: '1' }])
  })

  it('says nothing of the upstream, which is asked again', async () => {
    const gone = new AbortController()
    gone.abort()
    let signal: AbortSignal | undefined = gone.signal
    const storage = storageWith({ ...answering(resource), callerSignal: () => signal })
    for (let n = 0; n < 10; n++) await expect(read(storage)).rejects.toMatchObject({ code: 'aborted' })
    signal = undefined
    expect(await read(storage)).toMatchObject({ id: 'a' })
  })

  it('ends an operation that is delegated', async () => {
    const caller = new AbortController()
    const upstream = silent()
    const options = { baseUrl: BASE, delegate: ['expand'], remote: ['http://x/vs'], timeoutMs: 1_000_000, fetch: upstream.fetch }
    const expand = delegated(OPERATIONS, options).find((operation) => operation.name === '$expand')
    const ctx = forRequest(createContext({ storage: memoryStorage() }), { signal: caller.signal })
    const parameters = parametersFromQuery([['url', 'http://x/vs']])
    const running = expand?.run(ctx, { type: 'ValueSet', method: 'GET', parameters, strict: true })
    await expect.poll(() => upstream.asked.length).toBe(1)
    caller.abort()
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
  })
})
