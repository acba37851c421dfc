import { setTimeout as after } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import { stringAt } from 'fhir-ops/internal/json'
import { writableText, type PutEntry } from 'fhir-ops/storage'
import pg from 'pg'
import { openPostgres, type PostgresDatabase } from '../src/index.js'
import type { Stop, TestServer } from './test-server.js'

/** What a service saw while its server was stopped and started. */
export interface RestartReport {
  readonly acknowledged: number
  readonly refused: number
  /** The longest time from accepted connections to the first acknowledged write. */
  readonly slowestRecoveryMs: number
  readonly connections: number
  readonly faults: readonly string[]
}

/** The server is stopped in order, at once, and by killing all its processes, in turn. */
const STOPS: readonly Stop[] = ['fast', 'immediate', 'kill']
const LANES = 8
const MAX_CONNECTIONS = 10
/** Writes of a round before the server stops, whatever time they take. */
const WRITES = 20

interface Acknowledged {
  readonly version: number
  readonly mark: string
}

interface Seen {
  /** The last acknowledged version of each resource, with its mark. */
  readonly resources: Map<string, Acknowledged>
  readonly ended: Set<string>
  readonly codes: Map<string, number>
  writes: number
}

/** Writes all the time, restarts the server so many times, and compares what is there with what was acknowledged. */
export async function restartRounds(server: TestServer, rounds: number): Promise<RestartReport> {
  const pool = new pg.Pool({ connectionString: server.url, max: MAX_CONNECTIONS })
  const db = await openPostgres(pool)
  const seen: Seen = { resources: new Map(), ended: new Set(), codes: new Map(), writes: 0 }
  const stop = new AbortController()
  const lanes = Array.from({ length: LANES }, (_, lane) => writeUntil(stop.signal, { db, seen, lane }))
  const recoveries: number[] = []
  for (let round = 0; round < rounds; round++) {
    await until(seen, ({ writes }, before) => writes >= before.writes + WRITES)
    await server.stop(STOPS[round % STOPS.length] ?? 'kill')
    await until(seen, (now, before) => refusedOf(now) > refusedOf(before))
    await server.start()
    recoveries.push(await nextWriteMs(seen))
  }
  stop.abort()
  await Promise.all(lanes)
  const report = {
    acknowledged: seen.writes,
    refused: refusedOf(seen),
    connections: pool.totalCount,
  }
  const faults = [...codeFaults(seen), ...(await contentFaults(db, seen))]
  await db.close()
  return { ...report, slowestRecoveryMs: Math.max(...recoveries), faults }
}

interface Lane {
  readonly db: PostgresDatabase
  readonly seen: Seen
  readonly lane: number
}

async function writeUntil(stop: AbortSignal, { db, seen, lane }: Lane): Promise<void> {
  for (let step = 0; !stop.aborted; step++) {
    try {
      await writePair(db, seen, `${lane}-${step}`)
      await endSession(db, seen, `${lane}-${step}`)
    } catch (error) {
      const code = error instanceof OperationError ? error.code : String(error)
      seen.codes.set(code, (seen.codes.get(code) ?? 0) + 1)
      await after(10)
    }
  }
}

/** Both halves of a pair carry the same mark, so that half a transaction would show. */
async function writePair(db: PostgresDatabase, seen: Seen, mark: string): Promise<void> {
  const pair = mark.replace(/-\d*(\d)$/, '-$1')
  const [first, second] = await db.storage.write([half(`a-${pair}`, mark), half(`b-${pair}`, mark)])
  for (const result of [first, second]) {
    if (result !== undefined) seen.resources.set(result.id, { version: Number(result.versionId), mark })
  }
  seen.writes++
}

function half(id: string, mark: string): PutEntry {
  const text = writableText('Basic', id, { resourceType: 'Basic', language: mark })
  return { op: 'put', type: 'Basic', id, text, entries: [{ param: 'mark', value: mark }] }
}

async function endSession(db: PostgresDatabase, seen: Seen, loginId: string): Promise<void> {
  const times = { createdAt: 1, lastUsedAt: 1, expiresAt: 2 }
  await db.sessions.addSession({ loginId, sub: 'ann', digest: loginId, state: 'active', epoch: 0, scopes: [], ...times })
  await db.sessions.changeSession(loginId, ['active'], { state: 'logged-out' })
  seen.ended.add(loginId)
}

async function nextWriteMs(seen: Seen): Promise<number> {
  const start = performance.now()
  await until(seen, ({ writes }, before) => writes > before.writes)
  return performance.now() - start
}

/** Waits for what the lanes see, by what they had seen before. */
async function until(seen: Seen, isSo: (now: Counts, before: Counts) => boolean): Promise<void> {
  const before = { writes: seen.writes, codes: new Map(seen.codes) }
  while (!isSo(seen, before)) await after(5)
}

type Counts = Pick<Seen, 'writes' | 'codes'>

function refusedOf({ codes }: Counts): number {
  return codes.values().reduce((sum, count) => sum + count, 0)
}

const EXPECTED: ReadonlySet<string> = new Set(['storage-unavailable', 'storage-timeout'])

function codeFaults({ codes }: Seen): readonly string[] {
  return [...codes].filter(([code]) => !EXPECTED.has(code)).map(([code, count]) => `${count} calls failed with ${code}`)
}

async function contentFaults(db: PostgresDatabase, { resources, ended }: Seen): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [id, acknowledged] of resources) faults.push(...(await resourceFaults(db, id, acknowledged)))
  for (const id of ended) if ((await db.sessions.session(id))?.state !== 'logged-out') faults.push(`session ${id} is not ended`)
  return faults
}

async function resourceFaults(db: PostgresDatabase, id: string, { version, mark }: Acknowledged): Promise<readonly string[]> {
  const [stored, other] = await Promise.all([halfOf(db, id), halfOf(db, `${id.startsWith('a') ? 'b' : 'a'}${id.slice(1)}`)])
  const checks: readonly (readonly [fault: boolean, name: string])[] = [
    [stored.version < version, `version ${version} is lost`],
    [stored.version === version && stored.mark !== mark, 'another content'],
    [stored.version !== other.version || stored.mark !== other.mark, 'half a transaction'],
  ]
  return checks.filter(([fault]) => fault).map(([, name]) => `${id}: ${name}`)
}

async function halfOf(db: PostgresDatabase, id: string): Promise<Acknowledged> {
  const stored = await db.storage.read('Basic', id)
  return { version: Number(stored?.versionId ?? 0), mark: stringAt(stored?.resource, 'language') ?? '' }
}
