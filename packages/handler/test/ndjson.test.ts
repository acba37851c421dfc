import { get, type IncomingMessage } from 'node:http'
import { createContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../src/operations.js'
import { startServer, type RunningServer } from './running-server.js'

const SYSTEM = 'http://example.org/numbers'
const VALUE_SET = 'http://example.org/vs'
const CONTENT = [
  {
    resourceType: 'CodeSystem',
    id: 'cs',
    url: SYSTEM,
    status: 'active',
    content: 'complete',
    concept: Array.from({ length: 5_000 }, (_, i) => ({ code: `n${i}`, display: `number ${i}` })),
  },
  { resourceType: 'ValueSet', id: 'vs', url: VALUE_SET, status: 'active', compose: { include: [{ system: SYSTEM }] } },
]

/** What the sources of `$lines` have done. */
const sources = { made: 0, ended: 0 }

/** Gives lines of 1,000 characters: without end, or failing after some. */
const linesOperation: Operation = {
  name: '$lines',
  types: [],
  levels: ['system'],
  methods: ['GET'],
  definition: 'http://example.org/lines',
  needs: { text: 'r on the type', anyOf: [{ action: 'read' }] },
  run: async () => ({ status: 200, resource: { resourceType: 'Basic' } }),
  async stream(_, { parameters: [first] }) {
    return (async function* lines() {
      try {
        for (let i = 0; ; i++) {
          if (first?.name === 'failing' && i === 3) throw new OperationError('storage-unavailable', 'The storage has gone.')
          if (first?.name === 'broken' && i === 3) throw new Error('secret')
          sources.made++
          yield { resourceType: 'Basic', i, text: 'x'.repeat(1_000) }
          if (i % 50 === 0) await new Promise(setImmediate)
        }
      } finally {
        sources.ended++
      }
    })()
  },
}

let server: RunningServer
beforeAll(async () => {
  const storage = memoryStorage(CONTENT)
  const context = createContext({ storage, limits: { maxExpansion: 100 } })
  server = await startServer({ storage, context, auth: 'off', operations: [...OPERATIONS, linesOperation] })
})
afterAll(() => server.stop())

type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> }

const ask = (path: string, init: Init = {}, accept = 'application/fhir+ndjson'): Promise<Response> =>
  fetch(`${server.base}/fhir/R4${path}`, { ...init, headers: { accept, ...init.headers } })

const linesOf = (text: string): readonly Record<string, unknown>[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))

describe('an expansion as NDJSON', () => {
  it('is the value set without codes, then one code after the other, beyond the limit of whole expansions', async () => {
    const response = await ask(`/ValueSet/$expand?url=${VALUE_SET}`)
    expect([response.status, response.headers.get('content-type'), response.headers.get('content-length')]).toEqual([
      200,
      'application/fhir+ndjson',
      null,
    ])
    const [first, ...codes] = linesOf(await response.text())
    expect(first).toMatchObject({ resourceType: 'ValueSet', url: VALUE_SET, expansion: { total: 5_000, offset: 0 } })
    expect(first).not.toHaveProperty('expansion.contains')
    expect(codes).toHaveLength(5_000)
    expect(codes[4_999]).toEqual({ system: SYSTEM, code: 'n4999', display: 'number 4999' })
  })

  it('takes the inputs of an expansion, by POST too, and has its order', async () => {
    const parameter = [
      { name: 'url', valueUri: VALUE_SET },
      { name: 'filter', valueString: 'number 12' },
      { name: 'offset', valueInteger: 1 },
      { name: 'count', valueInteger: 3 },
    ]
    const init = {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Parameters', parameter }),
      headers: { 'content-type': 'application/fhir+json' },
    }
    const whole: { expansion: { contains: unknown[] } } = JSON.parse(
      await (await ask('/ValueSet/$expand', init, 'application/fhir+json')).text(),
    )
    expect(linesOf(await (await ask('/ValueSet/$expand', init)).text()).slice(1)).toEqual(whole.expansion.contains)
  })

  it.each([
    ['/ValueSet/$expand?url=http://nowhere', 404],
    [`/ValueSet/$expand?url=${VALUE_SET}&count=x`, 400],
    [`/ValueSet/$expand?url=${VALUE_SET}&_explain=true`, 400],
    ['/ValueSet/vs', 406],
    [`/CodeSystem/$lookup?system=${SYSTEM}&code=n1`, 406],
  ])('%s is refused with %i before anything is sent', async (path, status) => {
    const response = await ask(path)
    expect([response.status, await response.json()]).toMatchObject([status, { resourceType: 'OperationOutcome' }])
  })

  it.each([
    ['application/fhir+json', '', 'application/fhir+json; charset=utf-8'],
    ['*/*', '', 'application/fhir+json; charset=utf-8'],
    ['application/fhir+ndjson;q=0, */*', '', 'application/fhir+json; charset=utf-8'],
    ['*/*', '&_format=application/fhir%2Bndjson', 'application/fhir+ndjson'],
    ['application/fhir+ndjson', '&_format=json', 'application/fhir+json; charset=utf-8'],
  ])('Accept %s%s gives %s', async (accept, query, type) => {
    expect((await ask(`/ValueSet/$expand?url=${VALUE_SET}&count=1${query}`, {}, accept)).headers.get('content-type')).toBe(type)
  })

  it('has no body for HEAD', async () => {
    const response = await ask(`/ValueSet/$expand?url=${VALUE_SET}`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'application/fhir+ndjson', ''])
  })

  it('cannot be an entry of a batch', async () => {
    const url = `ValueSet/$expand?url=${VALUE_SET}&_format=ndjson`
    const bundle = { resourceType: 'Bundle', type: 'batch', entry: [{ request: { method: 'GET', url } }] }
    const init = { method: 'POST', body: JSON.stringify(bundle), headers: { 'content-type': 'application/fhir+json' } }
    expect(await (await ask('', init, 'application/fhir+json')).json()).toMatchObject({
      entry: [{ response: { status: '406' } }],
    })
  })
})

describe('a reader', () => {
  it('that stops reading stops the making, and the making ends when it goes', async () => {
    const before = { ...sources }
    const incoming = await opened('/$lines')
    incoming.pause()
    await expect.poll(hasSettled, { interval: 100 }).toBe(true)
    expect([sources.made - before.made < 20_000, sources.ended - before.ended]).toEqual([true, 0])
    incoming.destroy()
    await expect.poll(() => sources.ended - before.ended).toBe(1)
  })

  it('of the web-standard response ends the making by cancelling', async () => {
    const before = { ...sources }
    const response = await server.handler(new Request(`${server.base}/fhir/R4/$lines`, { headers: { accept: 'application/fhir+ndjson' } }))
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(32_000)
    expect(sources.made - before.made).toBeLessThan(50)
    await reader?.cancel()
    expect(sources.ended - before.ended).toBe(1)
  })
})

describe('a failure in the middle', () => {
  it.each([
    ['failing', { code: 'transient', details: { text: 'The storage has gone.' } }, 'storage-unavailable'],
    [
      'broken',
      { code: 'exception', details: { text: expect.stringMatching(/^The request could not be answered\. Reference: /) } },
      'unforeseen',
    ],
  ])('%s: the last line tells it, and the answer is cut off', async (name, issue, error) => {
    const incoming = await opened(`/$lines?${name}=1`)
    let text = ''
    const failure = await new Promise((resolve) => {
      incoming.on('data', (chunk) => (text += String(chunk)))
      incoming.once('end', () => resolve('ended'))
      incoming.once('error', resolve)
    })
    expect(failure).toMatchObject({ code: 'ECONNRESET' })
    const lines = linesOf(text)
    expect(lines.map(({ resourceType }) => resourceType)).toEqual(['Basic', 'Basic', 'Basic', 'OperationOutcome'])
    expect(lines[3]).toMatchObject({ issue: [issue] })
    expect(text).not.toContain('secret')
    expect(server.logs.at(-1)).toMatchObject({ error, route: '/fhir/R4/$lines' })
  })
})

function opened(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${server.base}/fhir/R4${path}`, { headers: { accept: 'application/fhir+ndjson' }, agent: false }, resolve).on('error', reject)
  })
}

let madeBefore = -1

/** True when nothing was made since the last question: the buffers between server and reader are full. */
function hasSettled(): boolean {
  const settled = madeBefore === sources.made
  madeBefore = sources.made
  return settled
}
