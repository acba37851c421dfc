import { setTimeout as after } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { basic } from '../../core/test/basics.js'
import { followerOf, REPLICATION } from '../test/failover-pair.js'
import { testServer, type TestServer } from '../test/test-server.js'
import { unheardErrors } from '../test/unheard-errors.js'
import { openPostgres, type PostgresDatabase } from './index.js'

const primary = await testServer({ ...REPLICATION, synchronous_commit: 'local' })
const standby = primary && (await followerOf(primary))
afterAll(async () => {
  await standby?.remove()
  await primary?.remove()
})
if (primary === undefined || standby === undefined)
  process.stdout.write('No PostgreSQL server can be had: the tests of connections that the server ends are skipped\n')

const KILLS = 12
const MAX_CONNECTIONS = 6
/** Calls after which the pool makes another connection, so that new ones come all the time. */
const MAX_USES = 10

/** What a connection is doing, as `pg_stat_activity` tells. */
const DOING: readonly (readonly [what: string, at: 'primary' | 'standby', condition: string])[] = [
  ['has just been made', 'primary', `state IS NULL OR query = ''`],
  ['waits in the pool', 'primary', `state = 'idle' AND query NOT IN ('LISTEN fhir_ops_sessions', 'SELECT 1')`],
  ['is between two statements', 'primary', `state = 'idle in transaction'`],
  ['runs a statement', 'primary', `state = 'active' AND query NOT LIKE 'COPY%'`],
  ['takes rows by COPY', 'primary', `query LIKE 'COPY%'`],
  ['listens for ended sessions', 'primary', `query IN ('LISTEN fhir_ops_sessions', 'SELECT 1')`],
  ['reads on a standby', 'standby', 'true'],
]

describe.skipIf(standby === undefined)('a connection that the server ends under load (needs PostgreSQL servers)', () => {
  it.each(DOING)('while it %s (on the %s) costs its call at most', async (_, at, condition) => {
    if (primary === undefined || standby === undefined) return
    const { Client, unheard } = unheardErrors()
    const [pool, replica] = [primary, standby].map(
      ({ url }) => new pg.Pool({ connectionString: url, max: MAX_CONNECTIONS, maxUses: MAX_USES, application_name: 'victim', Client }),
    )
    if (pool === undefined || replica === undefined) return
    const db = await openPostgres(pool, { replicas: [replica] })
    db.sessions.news?.onChange(() => {})
    const stop = new AbortController()
    const seen: Seen = { acknowledged: new Map(), codes: new Set() }
    const lanes = Array.from({ length: 2 * MAX_CONNECTIONS }, (_unused, lane) => useUntil(stop.signal, { db, seen, lane }))
    await kill(at === 'primary' ? primary : standby, condition)
    stop.abort()
    await Promise.all(lanes)
    expect(unheard).toEqual([])
    expect([...seen.codes].filter((code) => code !== 'storage-unavailable')).toEqual([])
    await expect.poll(() => db.sessions.news?.heard).toBe(true)
    for (const [id, version] of seen.acknowledged) expect(await versionAfterAll(db, id), id).toBeGreaterThanOrEqual(version)
    expect(seen.acknowledged.size).toBeGreaterThan(0)
    expect(pool.totalCount).toBeLessThanOrEqual(MAX_CONNECTIONS)
    await db.close()
  })
})

/** Has the server end so many connections that are at it. */
async function kill({ url }: TestServer, condition: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const statement = `SELECT pg_terminate_backend(pid) FROM (
    SELECT pid FROM pg_stat_activity WHERE application_name = 'victim' AND (${condition}) ORDER BY random() LIMIT 1) AS victim`
  for (let kills = 0; kills < KILLS;) {
    const { rowCount } = await client.query(statement)
    kills += rowCount ?? 0
    await after(rowCount === 0 ? 1 : 20)
  }
  await client.end()
}

interface Seen {
  /** The last acknowledged version of each resource. */
  readonly acknowledged: Map<string, number>
  /** Of the calls that failed. */
  readonly codes: Set<string>
}

interface Lane {
  readonly db: PostgresDatabase
  readonly seen: Seen
  readonly lane: number
}

async function useUntil(stop: AbortSignal, { db, seen, lane }: Lane): Promise<void> {
  const many = Array.from({ length: 150 }, (_, n) => basic(`many-${lane}-${n}`))
  const calls: readonly (() => Promise<unknown>)[] = [
    async () => {
      const [written] = await db.storage.write([basic(`one-${lane}`)])
      if (written !== undefined) seen.acknowledged.set(written.id, Number(written.versionId))
    },
    async () => db.storage.read('Basic', `one-${lane}`),
    async () => db.storage.write(many),
    async () =>
      db.storage.search({ type: 'Basic', where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'a' }] } }),
    async () => db.sessions.session('nobody'),
  ]
  for (let step = lane; !stop.aborted; step++) {
    try {
      await calls[step % calls.length]?.()
    } catch (error) {
      seen.codes.add(error instanceof OperationError ? error.code : String(error))
      await after(5)
    }
  }
}

/** Connections that were ended while nobody used them may be found only now. */
async function versionAfterAll(db: PostgresDatabase, id: string): Promise<number> {
  const read = async (): Promise<number> => Number((await db.storage.read('Basic', id))?.versionId ?? 0)
  return read().catch(read)
}
