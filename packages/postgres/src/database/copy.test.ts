import { writableText, type IndexEntry, type PutEntry } from 'fhir-ops/storage'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED, type TestSchema } from '../../test/test-database.js'
import { openPostgres, type OpenPostgresOptions, type PostgresClient, type PostgresDatabase, type PostgresPool } from '../index.js'
import { connectionsOf } from './connections.js'
import { databaseOver } from './database.js'
import { sql, type Row } from './sql.js'

const database = await sharedDatabase()

const HOSTILE = [
  '',
  '\\',
  '\\N',
  '\\.',
  'a\tb',
  'a\nb',
  'a\r\nb',
  '\0',
  '\ud800',
  'é 😀',
  '\u0001\u007f\u0085',
  "';--",
  'x'.repeat(399),
  'y'.repeat(401),
]
const NUMBERS = [0, -0, 0.1 + 0.2, 1e300, -1e-300, Number.MAX_SAFE_INTEGER, 1e21, Number.POSITIVE_INFINITY]

/** So many that they are copied. */
const RESOURCES = HOSTILE.flatMap((text, n) =>
  NUMBERS.map((low, m) => basic(`${n}-${m}`, { param: text, system: text, value: text, text, low, high: -low })),
)

function basic(id: string, entry: IndexEntry): PutEntry {
  return {
    op: 'put',
    type: 'Basic',
    id,
    text: writableText('Basic', id, { resourceType: 'Basic', language: entry.value ?? '' }),
    entries: [entry, { param: 'id', value: id }],
  }
}

describe.skipIf(database.url === undefined)('writes of many rows, which are copied (needs a PostgreSQL server)', () => {
  let schema: TestSchema
  beforeEach(async () => {
    schema = await database.schema()
    return schema.drop
  })
  const open = async (pool: PostgresPool = schema.pool(), options: OpenPostgresOptions = {}): Promise<PostgresDatabase> =>
    openPostgres(pool, { ...UNHURRIED, ...options })

  it('leave the rows that statements with arrays do', async () => {
    const other = await database.schema()
    const [copied, inserted] = await Promise.all([open(), open(withoutCopy(other.pool()))])
    for (const { storage } of [copied, inserted]) {
      await storage.write(RESOURCES)
      await storage.write(RESOURCES.toReversed())
      await storage.close()
    }
    const rows = await rowsIn(schema)
    expect(rows.length).toBe(RESOURCES.length * 4)
    expect(rows).toEqual(await rowsIn(other))
    await other.drop()
  })

  it('are copied', async () => {
    const seen: string[] = []
    const { storage } = await open(observed(schema.pool(), (text) => seen.push(text)))
    await storage.write(RESOURCES)
    await storage.close()
    expect(seen.filter((text) => text.startsWith('COPY'))).toHaveLength(2)
  })

  it('of ids that another adds meanwhile become the next versions, all of them', async () => {
    const [one, other] = await Promise.all([open(), open()])
    const written = await Promise.all([one, other].map(({ storage }) => storage.write(RESOURCES)))
    const versions = written.map((results) => [...new Set(results.map(({ versionId }) => versionId))])
    expect(new Set(versions)).toEqual(new Set([['1'], ['2']]))
    await Promise.all([one.close(), other.close()])
  })

  it('are gone as a whole when the connection is lost on the way, and the next one works', async () => {
    let strikes = true
    const pool = observed(schema.pool(), (text, end) => {
      if (strikes && text.startsWith('COPY fhir_entry')) end()
      strikes &&= !text.startsWith('COPY fhir_entry')
    })
    const { storage } = await open(pool)
    await expect(storage.write(RESOURCES)).rejects.toMatchObject({ code: 'storage-unavailable' })
    expect(await storage.read('Basic', '0-0')).toBeUndefined()
    expect(await storage.write(RESOURCES)).toHaveLength(RESOURCES.length)
    await storage.close()
  })

  it('end with their time, and leave the connection usable', async () => {
    const pool = schema.pool({ max: 1 })
    const unhurried = await open(pool, { notify: false })
    const { storage } = await open(pool, { statementTimeoutMs: 200, notify: false })
    const holder = new pg.Client({ connectionString: schema.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE fhir_entry IN SHARE MODE')
    await expect(storage.write(RESOURCES)).rejects.toMatchObject({ code: 'storage-timeout' })
    await holder.end()
    expect(await unhurried.storage.write(RESOURCES)).toHaveLength(RESOURCES.length)
    await storage.close()
  })
})

async function rowsIn(schema: TestSchema): Promise<readonly Row[]> {
  const pool = schema.pool()
  const db = databaseOver(pool, connectionsOf(pool, UNHURRIED))
  const entries = await db.rows(sql`SELECT * FROM fhir_entry ORDER BY type, id, n`)
  const versions = await db.rows(
    sql`SELECT type, id, version, text FROM fhir_resource UNION ALL SELECT type, id, version, text FROM fhir_version ORDER BY type, id, version`,
  )
  await db.close()
  return [...entries, ...versions]
}

/** A driver without COPY. */
function withoutCopy(pool: PostgresPool): PostgresPool {
  const clients = new WeakMap<PostgresClient, PostgresClient>()
  return {
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client) ?? {
        query: (query) => client.query(query),
        release: (destroy) => client.release(destroy),
        on: client.on.bind(client),
      }
      clients.set(client, known)
      return known
    },
    on: pool.on.bind(pool),
    end: () => pool.end(),
  }
}

/** Sees every statement before it is sent. */
function observed(pool: PostgresPool, see: (text: string, end: () => void) => void): PostgresPool {
  const seen = new WeakSet()
  return {
    async connect() {
      const client = await pool.connect()
      const connection = Reflect.get(client, 'connection')
      if (!seen.has(connection)) {
        seen.add(connection)
        const send = connection.query.bind(connection)
        connection.query = (text: string) => {
          see(text, () => connection.stream.destroy())
          send(text)
        }
      }
      return client
    },
    on: pool.on.bind(pool),
    end: () => pool.end(),
  }
}
