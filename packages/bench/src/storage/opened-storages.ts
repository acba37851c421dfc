import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { openPostgres } from '@fhir-ops/postgres'
import { openSqlite } from '@fhir-ops/sqlite'
import pg from 'pg'
import { testDatabase, type TestSchema } from '../../../postgres/test/test-database.js'

/** An empty storage of a bench. */
export interface OpenedStorage {
  readonly storage: Storage
  /** Bytes that its content takes, in memory or on disk. */
  readonly bytes: () => Promise<number>
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
  const opened = await openPostgres(schema.pool())
  return {
    storage: opened.storage,
    bytes: async () => (schema.url === undefined ? Number.NaN : sizeOf(schema.url)),
    async close() {
      await opened.close()
      await remove()
    },
  }
}

async function sizeOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes')
  await client.end()
  return Number(rows[0]?.bytes)
}
