import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve, type RunningServer, type ServeOptions } from './service.js'

const SAMPLE = fileURLToPath(new URL('../../sample', import.meta.url))
const QUIET = { out: () => {}, err: () => {}, stdin: async () => '' }
const OPTIONS: ServeOptions = { host: '127.0.0.1', port: 0, storage: 'memory', load: [], devToken: 'shared' }
const MEASURE = '/fhir/R4/Measure/heart-rate-count/$evaluate-measure?periodStart=2026&periodEnd=2026'
const EXPANSION = '/fhir/R4/ValueSet/$expand?url=http://example.org/fhir/ValueSet/visit-priority'

let upstream: RunningServer
let base: string
beforeAll(async () => {
  upstream = await serve({ ...OPTIONS, load: [SAMPLE] }, QUIET)
  base = `${upstream.url}/fhir/R4`
})
afterAll(() => upstream.close())

/** The status of a request to a server with these options. */
async function statusWith(options: Partial<ServeOptions>, path: string): Promise<number> {
  const server = await serve({ ...OPTIONS, ...options }, QUIET)
  try {
    return (await fetch(server.url + path, { headers: { authorization: 'Bearer shared' } })).status
  } finally {
    await server.close()
  }
}

describe('serve --delegate', () => {
  const delegation = { delegate: ['expand'], delegateTo: '', forwardToken: true }
  test.each<[string, Partial<ServeOptions>, number, string?]>([
    ['asks the other server for what is not here', { ...delegation }, 200],
    ['at once for what is said to be there', { ...delegation, remote: ['http://example.org/fhir/ValueSet/visit-priority'] }, 200],
    ['without the token of the caller unless it is told to', { ...delegation, forwardToken: false }, 503],
    ['for measures, which may be in CQL', { ...delegation, delegate: ['evaluate-measure'] }, 200, MEASURE],
    ['only for the operations that are named', { ...delegation, delegate: ['lookup'] }, 404],
  ])('%s', async (_, options, status, path = EXPANSION) => {
    expect(await statusWith({ ...options, delegateTo: base }, path)).toBe(status)
  })

  test.each<Partial<ServeOptions>>([
    { delegate: ['expand'] },
    { delegateTo: 'http://127.0.0.1:9' },
    { remote: ['http://example.org/x'] },
    { delegate: ['nothing'], delegateTo: 'http://127.0.0.1:9' },
    { delegate: ['validate'], delegateTo: 'http://127.0.0.1:9' },
  ])('refuses what does nothing and what cannot be delegated: %j', async (options) => {
    await expect(serve({ ...OPTIONS, ...options }, QUIET)).rejects.toMatchObject({ code: 'parameter-value' })
  })
})

test.each([
  [true, 200],
  [false, 503],
])('serve --storage http:URL asks with the token of the caller when told so: %s, %d', async (forwardToken, status) => {
  expect(await statusWith({ storage: base, forwardToken }, '/fhir/R4/Patient/ada')).toBe(status)
})

test('serve --storage http:URL asks no longer for a caller who has gone', async () => {
  const asked = Promise.withResolvers<IncomingMessage>()
  const silent = createServer(asked.resolve).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const server = await serve({ ...OPTIONS, storage: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/fhir` }, QUIET)
  const caller = new AbortController()
  const headers = { authorization: 'Bearer shared' }
  const answer = fetch(`${server.url}/fhir/R4/Patient/a`, { headers, signal: caller.signal }).catch(() => 'gone')
  const ended = once((await asked.promise).socket, 'close')
  caller.abort()
  expect(await answer).toBe('gone')
  // The time limit of the call itself is 4.5 seconds.
  expect(await Promise.race([ended.then(() => 'ended'), new Promise((resolve) => setTimeout(resolve, 3_000))])).toBe('ended')
  await server.close()
  silent.close()
})

test('serve --base-url makes links from the address that clients know', async () => {
  const server = await serve({ ...OPTIONS, baseUrl: 'https://fhir.example/' }, QUIET)
  const answer = await fetch(`${server.url}/fhir/R4/Patient`, { headers: { authorization: 'Bearer shared' } })
  expect(await answer.json()).toMatchObject({ link: [{ relation: 'self', url: 'https://fhir.example/fhir/R4/Patient' }] })
  await server.close()
})
