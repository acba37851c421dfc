import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { served, type Served } from './served.js'
import type { BenchRequest } from '../http/requests.js'
import { sentRequest } from '../http/sent-request.js'
import { markdownTable } from '../markdown.js'
import { CONTENT_REQUESTS, HOSTILE_REQUESTS, WORK_LOAD } from './requests.js'

const CONNECTIONS = 8
const HOSTILE_CONNECTIONS = 32
const SECONDS = 3
const SAMPLE_MS = 100
/** How long a server is left alone before what it keeps is read. */
const REST_MS = 20_000

/** Resident memory of `fhir-ops serve` over each storage: at rest, with content, under the work load, and after requests that are made to take memory. */
export async function memory(): Promise<string> {
  const rows: string[][] = []
  for (const [name, opened] of PLACES) {
    const { place, close } = await opened()
    const server = await served(place)
    rows.push([name, ...(await sizesOf(server)).map((size) => size.toFixed(0))])
    await server.close()
    await close()
  }
  return markdownTable(
    ['resident MB', 'at rest', 'with content', 'work load, most', 'after it', 'hostile requests, most', 'after them'],
    rows,
  )
}

interface Place {
  /** What `--storage` is. */
  readonly place: string
  readonly close: () => Promise<void>
}

const PLACES: ReadonlyMap<string, () => Promise<Place>> = new Map([
  ['memory', async () => ({ place: 'memory', close: async () => {} })],
  ['SQLite', inFile],
  ['PostgreSQL', inPostgres],
])

async function inFile(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-memory-'))
  return { place: `sqlite:${join(folder, 'bench.db')}`, close: () => rm(folder, { recursive: true }) }
}

async function inPostgres(): Promise<Place> {
  const database = await testDatabase()
  const { url } = await database.schema()
  if (url === undefined) throw new TypeError('Resident memory of one process needs a PostgreSQL server beside it.')
  return { place: url, close: () => database.remove() }
}

async function sizesOf(server: Served): Promise<readonly number[]> {
  await pause(1_000)
  const atRest = await residentMb(server)
  for (const request of CONTENT_REQUESTS) await answered(server, request)
  await pause(REST_MS)
  const withContent = await residentMb(server)
  const underLoad = await most(server, async () => {
    for (const request of WORK_LOAD) {
      await answered(server, request)
      await load(server, request, CONNECTIONS)
    }
  })
  await pause(REST_MS)
  const afterLoad = await residentMb(server)
  const underHostile = await most(server, async () => {
    for (const request of HOSTILE_REQUESTS) await load(server, request, HOSTILE_CONNECTIONS)
  })
  await pause(REST_MS)
  return [atRest, withContent, underLoad, afterLoad, underHostile, await residentMb(server)]
}

const ATTEMPTS = 40

/** Sends a request, again where a busy machine takes longer than the time limit, as for indexes that are made at first use. */
async function answered({ base, token }: Served, { path, method, headers, body }: BenchRequest): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(base + path, { method, headers: { ...headers, authorization: `Bearer ${token}` }, body: body ?? null })
    const text = await answer.text()
    if (answer.status < 300) return
    if (attempt === ATTEMPTS) throw new Error(`${path}: status ${answer.status}: ${text.slice(0, 500)}`)
  }
}

/** Sends a request again and again; hostile ones may be refused. */
async function load({ base, token }: Served, request: BenchRequest, connections: number): Promise<void> {
  const headers = { ...request.headers, authorization: `Bearer ${token}` }
  const result = await autocannon({
    url: base,
    connections,
    duration: SECONDS,
    timeout: 30,
    requests: [sentRequest({ ...request, headers })],
  })
  if (result['5xx'] > 0) console.log(`${request.name}: ${result['5xx']} of ${result.requests.total} were refused for now`)
}

/** The most that is resident while the work is done. */
async function most(server: Served, work: () => Promise<void>): Promise<number> {
  let largest = 0
  let isDone = false
  const sampled = (async () => {
    while (!isDone) {
      largest = Math.max(largest, await residentMb(server))
      await pause(SAMPLE_MS)
    }
  })()
  await work()
  isDone = true
  await sampled
  return largest
}

async function residentMb({ pid }: Served): Promise<number> {
  const kib = /^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1_024
}
