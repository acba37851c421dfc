import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import pg from 'pg'
import { useOf } from '../child-process-use.js'
import { testDatabase, type TestSchema } from '../../../postgres/test/test-database.js'

/** An empty storage of a bench. */
export interface OpenedStorage {
  readonly storage: Storage
  /** Bytes that its content takes, in memory or on disk. */
  readonly bytes: () => Promise<number>
  /** Processor time of its server so far, where it has one. */
  readonly serverMs?: () => number
  /** Does what the server does by itself some time after a load, so that what is measured does not depend on when. */
  readonly settle?: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The storages by name. */
export const STORAGES: ReadonlyMap<string, () => Promise<OpenedStorage>> = new Map([
  ['memory', openedMemory],
  ['sqlite', openedSqlite],
  ['postgres', openedPostgres],
])

/** Of a server that the bench starts; a server of `DATABASE_URL` has its own. */
const SERVER_SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' }

async function openedMemory(): Promise<OpenedStorage> {
  const used = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  return { storage: memoryStorage(), bytes: async () => used() - before, close: async () => {} }
}

async function openedSqlite(): Promise<OpenedStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-bench-'))
  const file = join(folder, 'bench.db')
  const opened = await openSqlite(file)
  return {
    storage: opened.storage,
    bytes: async () => (await sizes([file, `${file}-wal`])).reduce((sum, size) => sum + size),
    close: async () => opened.close().then(() => rm(folder, { recursive: true })),
  }
}

async function sizes(files: readonly string[]): Promise<readonly number[]> {
  return Promise.all(files.map(async (file) => (await stat(file)).size))
}

/** A schema on a server of its own, where `DATABASE_URL` names none. */
export async function benchDatabase(): Promise<{ readonly schema: TestSchema; readonly remove: () => Promise<void> }> {
  const database = await testDatabase(SERVER_SETTINGS)
  const schema = await database.schema()
  return {
    schema,
    async remove() {
      await schema.drop()
      await database.remove()
    },
  }
}

async function openedPostgres(): Promise<OpenedStorage> {
  const { schema, remove } = await benchDatabase()
  const pool = schema.pool()
  // Connections that are not in use end after a while.
  const used = new Map<number, number>()
  pool.on('acquire', (client) => {
    const pid = Number(Reflect.get(client, 'processID'))
    used.set(pid, used.get(pid) ?? 0)
  })
  const opened = await openPostgres(pool)
  return {
    storage: opened.storage,
    bytes: async () => (schema.url === undefined ? Number.NaN : sizeOf(schema.url)),
    serverMs() {
      for (const pid of used.keys()) used.set(pid, useOf(pid)?.processorMs ?? used.get(pid) ?? 0)
      return used.values().reduce((sum, ms) => sum + ms, 0)
    },
    async settle() {
      if (schema.url !== undefined) await asked(schema.url, 'VACUUM (ANALYZE)')
    },
    async close() {
      await opened.close()
      await remove()
    },
  }
}

async function sizeOf(url: string): Promise<number> {
  const [row] = await asked(url, 'SELECT pg_database_size(current_database()) AS bytes')
  return Number(Reflect.get(Object(row), 'bytes'))
}

async function asked(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(statement)
  await client.end()
  return rows
}
