import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { openSqlite } from '@fhir-ops/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder, type TemporaryFolder } from '../../../sqlite/test/temporary-folder.js'
import { served, type Served } from './served.js'

let folder: TemporaryFolder
let server: Served
beforeAll(async () => {
  folder = await temporaryFolder()
  server = await served(folder.file('data.db'))
})
afterAll(async () => folder.remove())

const FHIR = '/fhir/R4'
const ENDLESS = { resourceType: 'Bot', id: 'endless', runtime: 'sandbox', code: 'export const handler = () => { for (;;); }' }
const LARGE = JSON.stringify({ resourceType: 'Patient', name: [{ text: 'x'.repeat(5_000_000) }] })
const ENTRIES = Array.from({ length: 3_000 }, () => ({ resource: { resourceType: 'Patient', birthDate: 'never' } }))
const FLAWED = JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry: ENTRIES })
const CODES = Array.from({ length: 20_000 }, (_, n) => ({ code: `c${n}` }))
const WIDE = JSON.stringify({
  resourceType: 'ValueSet',
  status: 'active',
  compose: { include: [{ system: 'http://example.org/x', concept: CODES }] },
})

const SYSTEM = {
  resourceType: 'CodeSystem',
  id: 'large',
  url: 'http://example.org/large',
  valueSet: 'http://example.org/large-set',
  status: 'active',
  content: 'complete',
  concept: Array.from({ length: 30_000 }, (_, n) => ({ code: `c${n}`, display: `Concept number ${n}` })),
}

async function send(method: string, path: string, { body = null, headers = server.headers }: Content = {}): Promise<number> {
  try {
    const answer = await fetch(server.url + path, { method, headers, body })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    // A body above the limit is cut off by the server while it is sent.
    return 0
  }
}

interface Content {
  readonly body?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends until the answer is this one: on a busy machine the server's time limit may end a request. */
async function sendUntil(statuses: readonly number[], ...request: Parameters<typeof send>): Promise<void> {
  await expect.poll(async () => statuses.includes(await send(...request)), PATIENCE).toBe(true)
}

const PATIENCE = { timeout: 300_000 }

/** Opens a connection, says this much and hangs up when it has waited. */
async function half(text: string): Promise<void> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  await new Promise((resolve) => setTimeout(resolve, 20))
  socket.destroy()
}

const HOSTILE: readonly ((n: number) => Promise<unknown>)[] = [
  async () => send('POST', `${FHIR}/Patient`, { body: LARGE }),
  async () => send('POST', `${FHIR}/Patient`, { body: '['.repeat(1_000_000) }),
  async () => send('POST', `${FHIR}/Patient`, { body: '{"resourceType":"Patient","__proto__":{}}' }),
  async () => send('POST', `${FHIR}/Bundle/$validate`, { body: FLAWED }),
  async () => send('POST', `${FHIR}/ValueSet/$expand`, { body: WIDE }),
  async (n) => send('GET', `${FHIR}/ValueSet/$expand?url=http://example.org/unknown-${n}`),
  async () => send('GET', `${FHIR}/ValueSet/$expand?url=${SYSTEM.valueSet}`),
  async (n) => send('GET', `${FHIR}/Patient/none-${n}`),
  async (n) => send('GET', `${FHIR}/Patient?identifier=${'x'.repeat(1_000)}${n}`),
  async () => send('POST', `${FHIR}/Bot/endless/$execute`, { body: '{}' }),
  async (n) => send('GET', '/oauth2/userinfo', { headers: { authorization: `Bearer fo_${n}` } }),
  async () => half('GET /fhir/R4/Patient HTTP/1.1\r\nHost: x\r\nX: '),
  async () =>
    half(
      'PUT /fhir/R4/Patient/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    ),
  async () => half('\x16\x03\x01\x02\x00'),
]

async function hostileRounds(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: 4 }, (_, lane) => HOSTILE.map(async (act) => act(round * 4 + lane))).flat())
  }
}

describe.skipIf(!existsSync('/proc/self/status'))('a server after hostile load (needs /proc)', () => {
  it('holds no more than 300 MB, 64 files and 16 threads more than before', async () => {
    await sendUntil([200, 201], 'PUT', `${FHIR}/Bot/endless`, { body: JSON.stringify(ENDLESS) })
    await sendUntil([200, 201], 'PUT', `${FHIR}/CodeSystem/large`, { body: JSON.stringify(SYSTEM) })
    await sendUntil([200], 'GET', `${FHIR}/Patient?gender=female`)
    const before = await server.held()
    await hostileRounds(10)
    await sendUntil([200], 'GET', `${FHIR}/Patient?gender=female`)
    // Connections that were hung up may be seen a little later.
    await expect.poll(async () => (await server.held()).files - before.files, PATIENCE).toBeLessThanOrEqual(64)
    const after = await server.held()
    process.stdout.write(`hostile load: ${JSON.stringify(before)} before, ${JSON.stringify(after)} after\n`)
    expect(after.residentMb - before.residentMb).toBeLessThan(300)
    expect(after.threads - before.threads).toBeLessThanOrEqual(16)
    // Left alone, it gives memory back.
    let least = after.residentMb
    await expect
      .poll(async () => {
        least = Math.min(least, (await server.held()).residentMb)
        return least - before.residentMb
      }, PATIENCE)
      .toBeLessThan(150)
    process.stdout.write(`hostile load: ${least.toFixed(0)} MB left alone\n`)
  })

  it('stops in order under load, and has everything that it acknowledged', async () => {
    const acknowledged: string[] = []
    let isStopped = false
    const write = async (lane: number): Promise<void> => {
      for (let n = 0; !isStopped; n++) {
        const id = `${lane}-${n}`
        const status = await send('PUT', `${FHIR}/Patient/${id}`, { body: JSON.stringify({ resourceType: 'Patient', id }) })
        if (status === 201) acknowledged.push(id)
      }
    }
    const lanes = [1, 2, 3, 4].map(write)
    await expect.poll(() => acknowledged.length, PATIENCE).toBeGreaterThan(50)
    const start = performance.now()
    const { status, errors } = await server.stop()
    process.stdout.write(`stopped under load in ${Math.round(performance.now() - start)} ms\n`)
    isStopped = true
    await Promise.all(lanes)
    expect([status, errors.includes('Unhandled')]).toEqual([0, false])
    const { storage, close } = await openSqlite(folder.file('data.db'))
    const missing = []
    for (const id of acknowledged) if ((await storage.read('Patient', id)) === undefined) missing.push(id)
    await close()
    expect(missing).toEqual([])
  })
})
