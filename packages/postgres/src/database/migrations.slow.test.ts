import { setTimeout as after } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import { writableText, type PutEntry, type SearchQuery } from 'fhir-ops/storage'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { testDatabase, type TestSchema } from '../../test/test-database.js'
import { openPostgres, type PostgresDatabase } from '../index.js'
import { connectionsOf } from './connections.js'
import { databaseOver } from './database.js'
import { migrate, MIGRATIONS, servesFrom, type Step } from './migrations.js'
import { sql } from './sql.js'

const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

const LANES = 6
const LIMITS = { allowLossyCommits: true, connectTimeoutMs: 60_000 }
const LONG = { timeout: 600_000 }

/** What a next version may do while this one serves: columns in every table, an index, a table, and content that is made of what is there. */
const TABLES = ['resource', 'entry', 'version', 'user', 'session', 'revision', 'system', 'section', 'used_key']
const NEXT: readonly Step[] = [
  TABLES.map((table) => ({ text: `ALTER TABLE fhir_${table} ADD COLUMN IF NOT EXISTS next text`, values: [] })),
  [sql`CREATE INDEX IF NOT EXISTS fhir_entry_next ON fhir_entry (type, param, next)`],
  [
    sql`CREATE TABLE IF NOT EXISTS fhir_next (id text PRIMARY KEY, version integer NOT NULL)`,
    sql`INSERT INTO fhir_next SELECT id, version FROM fhir_resource WHERE type = 'Basic' ON CONFLICT DO NOTHING`,
    sql`UPDATE fhir_entry SET next = value`,
  ],
]
const NEWER = [...MIGRATIONS, ...NEXT]

describe.skipIf(database.url === undefined)('a schema that is changed while processes serve (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  const opened: PostgresDatabase[] = []
  beforeEach(async () => {
    schema = await database.schema()
    return async () => {
      for (const db of opened.splice(0)) await db.close()
      await schema.drop()
    }
  })
  const open = async (): Promise<PostgresDatabase> => {
    const db = await openPostgres(schema.pool({ max: LANES }), LIMITS)
    opened.push(db)
    return db
  }
  const upgrade = async (steps: readonly Step[], statementTimeoutMs = 5_000): Promise<void> => {
    const pool = schema.pool()
    const db = databaseOver(pool, connectionsOf(pool, { ...LIMITS, statementTimeoutMs }))
    try {
      await migrate(db, steps)
    } finally {
      await db.close()
    }
  }

  it('fails no call of the version before, whose statements are prepared, and loses nothing', LONG, async () => {
    const before = await open()
    const stop = new AbortController()
    const seen: Seen = { acknowledged: new Map(), failures: [], rounds: 0 }
    const lanes = Array.from({ length: LANES }, (_, lane) => useUntil(stop.signal, { db: before, seen, lane }))
    await expect.poll(() => seen.rounds).toBeGreaterThan(4 * LANES)
    await upgrade(NEWER)
    const now = await open()
    lanes.push(...Array.from({ length: LANES }, (_, lane) => useUntil(stop.signal, { db: now, seen, lane: LANES + lane })))
    const half = seen.rounds
    await expect.poll(() => seen.rounds).toBeGreaterThan(half + 4 * LANES)
    stop.abort()
    await Promise.all(lanes)
    expect(seen.failures).toEqual([])
    for (const [id, version] of seen.acknowledged)
      for (const db of [before, now]) expect((await db.storage.read('Basic', id))?.versionId, id).toBe(String(version))
    expect(await now.storage.count(ALL)).toBe(await before.storage.count(ALL))
    expect((await run('SELECT version FROM fhir_schema')).rows).toEqual([{ version: NEWER.length }])
  })

  it('admits a process of the version before, until a step says that it cannot serve it', async () => {
    await open()
    await upgrade(NEWER)
    const restarted = await open()
    expect(await restarted.storage.write([basic('one')])).toMatchObject([{ versionId: '1' }])
    await upgrade([...NEWER, [sql`ALTER TABLE fhir_next DROP COLUMN version`, servesFrom(NEWER.length + 1)]])
    await expect(open()).rejects.toMatchObject({ code: 'storage-damaged' })
  })

  it('waits for whoever has a table for long, such as a backup, without making others wait behind it', LONG, async () => {
    const { storage } = await open()
    await storage.write([basic('one')])
    const backup = new pg.Client({ connectionString: schema.url })
    await backup.connect()
    await backup.query('BEGIN; SELECT * FROM fhir_resource')
    let isDone = false
    const upgrading = upgrade(NEWER, 200).then(() => (isDone = true))
    for (let reads = 0; reads < 100; reads++) {
      expect((await storage.read('Basic', 'one'))?.versionId).toBe('1')
      await after(20)
    }
    expect(isDone).toBe(false)
    await backup.query('COMMIT')
    await backup.end()
    await upgrading
    expect((await run('SELECT version FROM fhir_schema')).rows).toEqual([{ version: NEWER.length }])
  })

  it('lets other processes wait for their turn longer than a statement may take', LONG, async () => {
    await open()
    const other = new pg.Client({ connectionString: schema.url })
    await other.connect()
    await other.query('BEGIN; SELECT 1 FROM fhir_schema FOR UPDATE')
    const upgrading = upgrade(NEWER, 100)
    await after(1_000)
    await other.query('COMMIT')
    await other.end()
    await upgrading
    expect((await run('SELECT version FROM fhir_schema')).rows).toEqual([{ version: NEWER.length }])
  })

  async function run(statement: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: schema.url })
    await client.connect()
    const result = await client.query(statement)
    await client.end()
    return result
  }
})

interface Seen {
  /** The version of each resource that was acknowledged last; each has one writer. */
  readonly acknowledged: Map<string, number>
  readonly failures: string[]
  rounds: number
}

interface Lane {
  readonly db: PostgresDatabase
  readonly seen: Seen
  readonly lane: number
}

async function useUntil(stop: AbortSignal, { db, seen, lane }: Lane): Promise<void> {
  for (let round = 0; !stop.aborted; round++) {
    for (const call of callsOf({ db, seen, lane }, round))
      await call().catch((error: unknown) =>
        seen.failures.push(`${call.toString()}: ${error instanceof OperationError ? error.code : String(error)}`),
      )
    seen.rounds++
  }
}

/** Everything that the adapter does. */
function callsOf({ db: { storage, sessions, concepts }, seen, lane }: Lane, round: number): readonly (() => Promise<unknown>)[] {
  const id = `one-${lane}`
  const loginId = `${lane}-${round}`
  const session = {
    loginId,
    sub: `user-${lane}`,
    digest: loginId,
    state: 'active',
    epoch: 0,
    scopes: [],
    createdAt: 1,
    lastUsedAt: 1,
    expiresAt: 2,
  } as const
  return [
    async () => {
      const [written] = await storage.write([basic(id)])
      seen.acknowledged.set(id, Number(written?.versionId))
    },
    async () => storage.write(Array.from({ length: 120 }, (_, n) => basic(`many-${lane}-${n}`))),
    async () => storage.write([{ op: 'delete', type: 'Basic', id: `many-${lane}-0` }]),
    async () => storage.read('Basic', id),
    async () => storage.search(BY_CODE),
    async () => storage.search({ ...ALL, sort: [{ param: '', field: 'lastUpdated', descending: true }], limit: 5 }),
    async () =>
      storage.search({
        type: 'Basic',
        where: { kind: 'not', condition: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'prefix', operand: 'b' }] } },
        limit: 5,
      }),
    async () => storage.count(BY_CODE),
    async () => storage.scan?.({ ...ALL, limit: 5 }),
    async () => storage.history?.version('Basic', id, '1'),
    async () => storage.history?.page({ types: ['Basic'], limit: 5 }),
    async () => storage.revision?.(),
    async () => sessions.putUser(session.sub, {}),
    async () => sessions.addSession(session),
    async () => sessions.session(loginId),
    async () => sessions.sessionByDigest(loginId),
    async () => sessions.knownByDigest?.(loginId),
    async () => sessions.sessionsOf(session.sub, 5),
    async () => sessions.changeSession(loginId, ['active'], { lastUsedAt: 2 }),
    async () => sessions.changeSession(loginId, ['active'], { state: 'logged-out' }),
    async () => sessions.endOthers(session.sub, 'none'),
    async () => sessions.raiseEpoch(session.sub, 1),
    async () => sessions.setUserState(session.sub, 'disabled', 1),
    async () => sessions.setUserState(session.sub, 'active', 1),
    async () => sessions.user(session.sub),
    async () => sessions.useOnce(loginId, { now: 1, until: 2 }),
    async () => {
      const staged = await concepts.stage({ url: `http://example.org/${lane}`, version: '1', format: 'f', concepts: 0, header: '{}' })
      await staged.put('a', new Uint8Array(8))
      const { key } = await staged.publish()
      const { section } = await concepts.open(key)
      section('a')
      await concepts.systems()
    },
  ]
}

const ALL: SearchQuery = { type: 'Basic', where: { kind: 'and', conditions: [] } }
const BY_CODE: SearchQuery = {
  type: 'Basic',
  where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: 'a' }] },
  limit: 20,
}

function basic(id: string): PutEntry {
  const text = writableText('Basic', id, { resourceType: 'Basic' })
  return { op: 'put', type: 'Basic', id, text, entries: [{ param: 'code', value: 'a' }] }
}
