import { randomUUID } from 'node:crypto'
import { sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { pgbouncer } from '../test/pgbouncer.js'
import { UNHURRIED } from '../test/test-database.js'
import { testServer } from '../test/test-server.js'
import { openPostgres, type PostgresDatabase } from './index.js'

const server = await testServer({ fsync: 'off', max_connections: '400' })
const pooler = server && (await pgbouncer(server.url))
afterAll(async () => {
  await pooler?.remove()
  await server?.remove()
})
if (pooler === undefined) process.stdout.write('pgbouncer and a PostgreSQL server cannot be had: their tests are skipped\n')

const OPTIONS = { ...UNHURRIED, transactionPooling: true, notify: false }

async function onServer(...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: server?.url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** An empty database. */
async function freshDatabase(settings: readonly string[] = ["statement_timeout = '60s'"]): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await onServer(`CREATE DATABASE ${name} TEMPLATE template0`, ...settings.map((setting) => `ALTER DATABASE ${name} SET ${setting}`))
  return name
}

function open(name: string, now: () => Date = () => new Date()): Promise<PostgresDatabase> {
  return openPostgres(new pg.Pool({ connectionString: pooler?.url(name), max: 10 }), { ...OPTIONS, now })
}

describe.skipIf(pooler === undefined)('behind pgbouncer that shares connections between transactions (needs pgbouncer)', () => {
  storageContract('PostgreSQL', async ({ now }) => {
    const name = await freshDatabase()
    const { storage } = await open(name, now)
    return { storage, reopen: async () => (await open(name, now)).storage }
  })

  sessionStoreContract('PostgreSQL', async () => {
    const db = await open(await freshDatabase())
    return { store: db.sessions, dispose: () => db.close() }
  })

  it('many clients at once write and search over few connections, and no statement is prepared', async () => {
    const name = await freshDatabase()
    const clients = await Promise.all(Array.from({ length: 4 }, () => open(name)))
    const where = { kind: 'entry', param: 'p', all: [{ field: 'value', op: 'eq', operand: 'v' }] } as const
    const text = (id: string): string => `{"resourceType":"Basic","id":"${id}","meta":{}}`
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        clients.map(async ({ storage }, client) => {
          const id = `b${client}-${round}`
          await storage.write([{ op: 'put', type: 'Basic', id, text: text(id), entries: [{ param: 'p', value: 'v' }] }])
          expect((await storage.search({ type: 'Basic', where, limit: 5 })).items.length).toBeGreaterThan(0)
        }),
      )
    }
    expect(await clients[0]?.storage.count({ type: 'Basic', where })).toBe(80)
    await Promise.all(clients.map((client) => client.close()))
  })

  it('a role without a time limit is refused', async () => {
    await expect(open(await freshDatabase([]))).rejects.toMatchObject({ code: 'storage-unavailable' })
  })
})
