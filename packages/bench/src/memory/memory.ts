import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { served, type Served } from './served.js'
import { type BenchRequest, sentRequest } from '../http/requests.js'
import { markdownTable } from '../markdown.js'
import { PART_HEADS, partCells, type MemoryParts } from './parts.js'
import { CONTENT_REQUESTS, HOSTILE_REQUESTS, WORK_LOAD } from './requests.js'

const CONNECTIONS = 8
const HOSTILE_CONNECTIONS = 32
const SECONDS = 1
const SAMPLE_MS = 100
/** Idle time before the memory of a server is read: longer than the time after which `serve` releases memory. */
const REST_MS = 14_000

/**
 * Memory of `fhir-ops serve` over each storage, by parts: at rest, with content, under the work load, and after requests that are designed to take much
 * memory. `MEMORY_STORAGES` names the storages (default all, with commas), `MEMORY_CHECKOUT` the folder of another checkout whose server is measured.
 */
export async function memory(): Promise<string> {
  const rows: (readonly string[])[] = []
  const storages = process.env['MEMORY_STORAGES']?.split(',')
  for (const [name, opened] of PLACES) {
    if (storages?.includes(name) === false) continue
    const { place, close } = await opened()
    const server = await served(place)
    for (const [when, parts] of await sizesOf(server)) rows.push([`${name}, ${when}`, ...partCells(parts)])
    await server.close()
    await close()
  }
  return markdownTable(['storage', ...PART_HEADS], rows)
}

interface Place {
  /** Value of `--storage`. */
  readonly place: string
  readonly close: () => Promise<void>
}

const PLACES: ReadonlyMap<string, () => Promise<Place>> = new Map([
  ['memory', async () => ({ place: 'memory', close: async () => {} })],
  ['sqlite', inFile],
  ['postgres', inPostgres],
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

async function sizesOf(server: Served): Promise<ReadonlyMap<string, MemoryParts>> {
  const sizes = new Map<string, MemoryParts>()
  await pause(1_000)
  sizes.set('at rest', await server.parts())
  for (const request of CONTENT_REQUESTS) await answered(server, request)
  await pause(REST_MS)
  sizes.set('with content', await server.parts())
  const workLoad = async (): Promise<void> => {
    for (const request of WORK_LOAD) {
      await answered(server, request)
      await loadMeasured(server, request, CONNECTIONS)
    }
  }
  sizes.set('work load, most', await most(server, workLoad))
  await pause(REST_MS)
  sizes.set('after it', await server.parts())
  const hostile = async (): Promise<void> => {
    for (const request of HOSTILE_REQUESTS) await loadMeasured(server, request, HOSTILE_CONNECTIONS)
  }
  sizes.set('hostile requests, most', await most(server, hostile))
  await pause(REST_MS)
  return sizes.set('after them', await server.parts())
}

const ATTEMPTS = 40

/** Sends a request, and repeats it if a busy machine exceeds the time limit, for example while indexes are built at first use. */
async function answered({ base, token }: Served, { path, method, headers, body }: BenchRequest): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(base + path, { method, headers: { ...headers, authorization: `Bearer ${token}` }, body: body ?? null })
    const text = await answer.text()
    if (answer.status < 300) return
    if (attempt === ATTEMPTS) throw new Error(`${path}: status ${answer.status}: ${text.slice(0, 500)}`)
  }
}

/** Sends a request repeatedly; hostile requests may be refused. */
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

/** Prints the resident memory while a request is sent, which shows the request that causes the maximum. */
async function loadMeasured(server: Served, request: BenchRequest, connections: number): Promise<void> {
  const parts = await most(server, () => load(server, request, connections))
  console.error(`${request.name}: ${partCells(parts).join(' | ')}`)
}

/** The parts of memory at the maximum of resident memory during the work. */
async function most(server: Served, work: () => Promise<void>): Promise<MemoryParts> {
  let largest = await server.parts()
  let isDone = false
  const sampled = (async () => {
    while (!isDone) {
      const parts = await server.parts()
      if (parts.resident > largest.resident) largest = parts
      await pause(SAMPLE_MS)
    }
  })()
  await work()
  isDone = true
  await sampled
  return largest
}
