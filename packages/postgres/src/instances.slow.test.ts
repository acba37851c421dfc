import { setTimeout as after } from 'node:timers/promises'
import { createSessions } from 'fhir-ops/sessions'
import type { SessionNews } from 'fhir-ops/internal/storage'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { basic } from '../../core/test/basics.js'
import { testDatabase, type TestSchema } from '../test/test-database.js'
import { openPostgres, type OpenPostgresOptions, type PostgresDatabase } from './index.js'

// Nothing here stops a machine, and each test makes a schema: without flushes that takes half the time.
const database = await testDatabase({ fsync: 'off' })
afterAll(() => database.remove())

const REFUSED = { code: 'token-invalid' }

describe.skipIf(database.url === undefined)('two processes over one database (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  const opened: PostgresDatabase[] = []

  beforeEach(async () => {
    schema = await database.schema()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()))
    await schema.drop()
  })

  async function instance(options: OpenPostgresOptions = {}): Promise<PostgresDatabase> {
    const db = await openPostgres(schema.pool({ application_name: 'instance' }), { allowLossyCommits: true, ...options })
    opened.push(db)
    return db
  }

  it('may open an empty one at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => instance()))
    await Promise.all(all.map((db, index) => db.storage.write([basic(`b${index}`)])))
    expect(await all[0]?.storage.count({ type: 'Basic', where: { kind: 'and', conditions: [] } })).toBe(6)
  })

  it('a session ended at one is refused at the other by the next request', async () => {
    const [a, b] = [await instance(), await instance()].map(({ sessions }) => createSessions({ store: sessions }))
    const { token } = await a!.create({ user: 'ann' })
    const principal = await b!.verify(token)
    await a!.logout(principal)
    await expect(b!.verify(token)).rejects.toMatchObject(REFUSED)
    const other = await a!.create({ user: 'ann' })
    await b!.verify(other.token)
    await a!.signOutEverywhere('ann')
    await expect(b!.verify(other.token)).rejects.toMatchObject(REFUSED)
  })

  it('what one remembers of sessions is dropped when the other ends one', async () => {
    const [first, second] = [await instance(), await instance()]
    // For a clock that stands, nothing is forgotten by time.
    const start = new Date()
    const now = (): Date => start
    const ending = createSessions({ store: first.sessions, now })
    const remembering = createSessions({ store: second.sessions, sessionCacheMs: 5_000, now })
    await expect.poll(() => second.sessions.news?.heard).toBe(true)
    const { token } = await ending.create({ user: 'ann' })
    await ending.logout(await remembering.verify(token))
    await vi.waitFor(() => expect(remembering.verify(token)).rejects.toMatchObject(REFUSED), { timeout: 300_000 })
  })

  it('nothing is heard while the listening connection is lost, and everything again afterwards', async () => {
    const { sessions } = await instance()
    const news = sessions.news
    if (news === undefined) throw new Error('There is no news.')
    const states = statesOf(news)
    await expect.poll(() => news.heard).toBe(true)
    await run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN fhir_ops_sessions' OR query = 'SELECT 1' AND application_name = 'instance'",
    )
    await expect.poll(() => states).toContain(false)
    await expect.poll(() => news.heard).toBe(true)
  })

  it('without notifications nothing is ever remembered', async () => {
    const [a, b] = [await instance({ notify: false }), await instance({ notify: false })]
    const ending = createSessions({ store: a.sessions })
    const remembering = createSessions({ store: b.sessions, sessionCacheMs: 5_000 })
    const { token } = await ending.create({ user: 'ann' })
    await ending.logout(await remembering.verify(token))
    await expect(remembering.verify(token)).rejects.toMatchObject(REFUSED)
  })

  it('write the same resources in opposite orders without standing in each other’s way', async () => {
    const [a, b] = [await instance(), await instance()]
    const ids = Array.from({ length: 30 }, (_, index) => `b${index}`)
    const writes = Array.from({ length: 4 }, () => [
      a.storage.write(ids.map((id) => basic(id))),
      b.storage.write(ids.toReversed().map((id) => basic(id))),
    ]).flat()
    await Promise.all(writes)
    expect((await a.storage.read('Basic', 'b7'))?.versionId).toBe('8')
  })

  it('complete a schema however long a step takes', async () => {
    await instance()
    const other = new pg.Client({ connectionString: schema.url })
    await other.connect()
    await other.query('UPDATE fhir_schema SET version = 0')
    await other.query('BEGIN; LOCK TABLE fhir_entry')
    const completing = instance({ statementTimeoutMs: 2_000 })
    await after(3_000)
    await other.query('COMMIT')
    await other.end()
    expect(await (await completing).storage.write([basic('b')])).toMatchObject([{ versionId: '1' }])
  })

  it('leave no connection behind', async () => {
    const db = await instance()
    createSessions({ store: db.sessions, sessionCacheMs: 1_000 })
    await Promise.all(Array.from({ length: 30 }, (_, index) => db.storage.write([basic(`b${index % 3}`)])))
    await expect(db.storage.write([{ ...basic('b1'), ifVersion: '1' }])).rejects.toMatchObject({ code: 'version-conflict' })
    await db.close()
    const count = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'instance'"
    await expect.poll(async () => (await run(count)).rows).toEqual([{ n: 0 }])
  })
})

function statesOf(news: SessionNews): readonly boolean[] {
  const states: boolean[] = []
  news.onChange(() => states.push(news.heard))
  return states
}

async function run(statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const result = await client.query(statement)
  await client.end()
  return result
}
