import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { r4 } from '@fhir-ops/r4'
import { afterEach, expect, it } from 'vitest'
import { askFhir, at, startServer, USER, type Reply, type RunningServer, type Sending, type ServerSetup } from './running-server.js'

const running: RunningServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

async function start(setup: ServerSetup = {}): Promise<RunningServer> {
  const { indexer, ...release } = r4()
  const storage = memoryStorage([MAP], { indexer })
  const server = await startServer({ storage, context: createContext({ storage, ...release }), ...setup })
  running.push(server)
  return server
}

const map = (target: string): { readonly [name: string]: unknown; readonly resourceType: string } => ({
  resourceType: 'ConceptMap',
  id: 'm',
  url: 'http://example.org/m',
  status: 'active',
  group: [{ source: 'urn:a', target: 'urn:b', element: [{ code: 'x', target: [{ code: target, equivalence: 'equal' }] }] }],
})
const MAP = map('y')
const PATH = '/ConceptMap/$translate?url=http://example.org/m&system=urn:a&code=x'

/** An operation that counts how often it runs. */
function counting(more: Partial<Operation> = {}): { readonly operation: Operation; readonly runs: () => number } {
  let runs = 0
  const operation: Operation = {
    name: '$count',
    types: ['Basic'],
    levels: ['type', 'instance'],
    methods: ['GET', 'POST'],
    definition: 'http://example.org/count',
    needs: { text: 'Basic.r', anyOf: [{ action: 'read', type: 'Basic' }] },
    cacheable: true,
    run: async () => ({ status: 200, resource: { resourceType: 'Basic', id: `run-${++runs}` } }),
    ...more,
  }
  return { operation, runs: () => runs }
}

const ask = (server: RunningServer, path: string, sending: Sending = {}, token = server.token): Promise<Reply> =>
  askFhir({ ...server, token }, path, sending)

it('what is asked again gets the answer from before, with an id of its own', async () => {
  const { operation, runs } = counting()
  const server = await start({ operations: [operation] })
  const replies: Reply[] = []
  for (let i = 0; i < 4; i++) replies.push(await ask(server, '/Basic/$count?a=1'))
  expect([replies.map(({ json }) => at(json, 'id')), runs()]).toEqual([['run-1', 'run-2', 'run-2', 'run-2'], 2])
  expect(new Set(replies.map(({ headers }) => headers['x-request-id'])).size).toBe(4)
})

it('another request is another: by target, body, language, handling and threshold', async () => {
  const { operation, runs } = counting()
  const server = await start({ operations: [operation] })
  const parameters = (name: string): string => JSON.stringify({ resourceType: 'Parameters', parameter: [{ name, valueString: 'ü' }] })
  const all: readonly (readonly [string, Sending])[] = [
    ['/Basic/$count', {}],
    ['/Basic/$count?a=1', {}],
    ['/Basic/$count?a=1&_pretty=true', {}],
    ['/Basic/$count', { method: 'POST', body: parameters('a') }],
    ['/Basic/$count', { method: 'POST', body: parameters('b') }],
    ['/Basic/$count', { headers: { 'accept-language': 'de' } }],
    ['/Basic/$count', { headers: { prefer: 'handling=strict' } }],
    ['/Basic/$count', { headers: { 'x-too-costly-threshold': '5' } }],
  ]
  for (const [path, sending] of [...all, ...all, ...all]) expect((await ask(server, path, sending)).status).toBe(200)
  expect(runs()).toBe(2 * all.length)
})

it.each([
  ['an operation that does not say so', { cacheable: false }, '/Basic/$count'],
  ['one resource', {}, '/Basic/b/$count'],
  ['what is not a success', { run: async () => ({ status: 202, resource: { resourceType: 'Basic' } }) }, '/Basic/$count'],
  ['an answer that is long', { run: async () => ({ status: 200, resource: { text: 'x'.repeat(50_000) } }) }, '/Basic/$count'],
] as const)('nothing is kept of %s', async (_, more, path) => {
  let runs = 0
  const { run } = counting(more).operation
  const { operation } = counting({ ...more, run: (...args) => (runs++, run(...args)) })
  const server = await start({ operations: [operation] })
  for (let i = 0; i < 4; i++) await ask(server, path)
  expect(runs).toBe(4)
})

it('a change of a definition is seen at once', async () => {
  const server = await start()
  const targets: unknown[] = []
  for (const target of ['y', 'y', 'y', 'z', 'z', 'z']) {
    if (target === 'z') await ask(server, '/ConceptMap/m', { method: 'PUT', body: JSON.stringify(map('z')) })
    targets.push((await ask(server, PATH)).text.includes(`"code":"${target}"`))
  }
  expect(targets).toEqual([true, true, true, true, true, true])
  await ask(server, '/ConceptMap/m', { method: 'DELETE' })
  expect((await ask(server, PATH)).status).toBe(404)
})

it('who may not ask does not get what others got; an ended session gets nothing', async () => {
  const server = await start()
  const tokenOf = async (...scopes: string[]): Promise<string> => (await server.sessions.create({ user: USER, scopes })).token
  const [allowed, foreign, part] = [await tokenOf('system/ConceptMap.r'), await tokenOf('system/Patient.r'), await tokenOf('patient/*.rs')]
  const statuses = async (): Promise<number[]> =>
    Promise.all([allowed, foreign, part, 'nonsense'].map(async (token) => (await ask(server, PATH, {}, token)).status))
  for (let i = 0; i < 3; i++) expect(await statuses()).toEqual([200, 403, 403, 401])
  await server.sessions.logout(await server.sessions.verify(allowed))
  expect((await ask(server, PATH, {}, allowed)).status).toBe(401)
})

it('where a rule of the host decides, each request is decided anew', async () => {
  const { operation, runs } = counting()
  let decision: 'allow' | 'deny' = 'allow'
  const server = await start({ operations: [operation], policy: () => decision })
  for (let i = 0; i < 3; i++) expect((await ask(server, '/Basic/$count')).status).toBe(200)
  decision = 'deny'
  expect((await ask(server, '/Basic/$count')).status).toBe(403)
  expect(runs()).toBe(3)
})

it('a handler that closes answers nothing from before', async () => {
  const server = await start()
  for (let i = 0; i < 3; i++) expect((await ask(server, PATH)).status).toBe(200)
  await server.handler.close()
  expect((await ask(server, PATH)).status).toBe(503)
})

it('is a short memory: many questions push the first ones out', async () => {
  let runs = 0
  const resource = { resourceType: 'Basic', language: 'x'.repeat(30_000) }
  const { operation } = counting({ run: async () => (runs++, { status: 200, resource }) })
  const server = await start({ operations: [operation] })
  for (let i = 0; i < 600; i++) await ask(server, `/Basic/$count?n=${Math.floor(i / 2)}`)
  await ask(server, '/Basic/$count?n=299')
  expect(runs).toBe(600)
  await ask(server, '/Basic/$count?n=0')
  expect(runs).toBe(601)
})
