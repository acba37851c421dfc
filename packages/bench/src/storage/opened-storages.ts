import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { openPostgres, openPostgresToFill } from '@fhir-ops/postgres'
import { openSqlite, openSqliteToFill } from '@fhir-ops/sqlite'
import pg from 'pg'
import { useOf } from '../child-process-use.js'
import { testDatabase, type TestSchema } from '../../../postgres/test/test-database.js'

/** An empty storage of a bench. */
export interface OpenedStorage {
  readonly storage: Storage
  /** Bytes of its content, in memory or on disk. */
  readonly bytes: () => Promise<number>
  /** Processor time of its server so far; absent if it has none. */
  readonly serverMs?: () => number
  /** Does the work that the server does some time after a load, so that measurements do not depend on its time. */
  readonly settle?: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Fills a storage that is empty. */
export type Filling = (storage: Storage) => Promise<void>

/** The storages by name, each empty, or filled as `fhir-ops load` fills a new one: with its indexes built at the end. */
export const STORAGES: ReadonlyMap<string, (filling?: Filling) => Promise<OpenedStorage>> = new Map([
  ['memory', openedMemory],
  ['sqlite', openedSqlite],
  ['postgres', openedPostgres],
])

/** Settings of a server that the bench starts; a server of `DATABASE_URL` has its own. */
const SERVER_SETTINGS = { shared_buffers: '512MB', max_wal_size: '4GB' }

async function openedMemory(filling?: Filling): Promise<OpenedStorage> {
  const used = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  const storage = memoryStorage()
  await filling?.(storage)
  return { storage, bytes: async () => used() - before, close: async () => {} }
}

async function openedSqlite(filling?: Filling): Promise<OpenedStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-bench-'))
  const file = join(folder, 'bench.db')
  await filled(filling, async () => openSqliteToFill(file))
  const opened = await openSqlite(file)
  return {
    storage: opened.storage,
    bytes: async () => sizes([file, `${file}-wal`]).reduce((sum, size) => sum + size),
    close: async () => opened.close().then(() => rm(folder, { recursive: true })),
  }
}

/** Opens a storage, fills it and closes it, which builds the indexes. */
async function filled(filling: Filling | undefined, open: () => Promise<Pick<OpenedStorage, 'storage' | 'close'>>): Promise<void> {
  if (filling === undefined) return
  const opened = await open()
  await filling(opened.storage)
  await opened.close()
}

/** Sizes of files; 0 for a missing file, such as the log of a database without writes. */
function sizes(files: readonly string[]): readonly number[] {
  return files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
}

/** A schema, on a separate server unless `DATABASE_URL` names one. */
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

async function openedPostgres(filling?: Filling): Promise<OpenedStorage> {
  const { schema, remove } = await benchDatabase()
  const server = backendsOf()
  await filled(filling, async () => openPostgresToFill(server.heard(schema.pool())))
  const opened = await openPostgres(server.heard(schema.pool()))
  return {
    storage: opened.storage,
    bytes: async () => (schema.url === undefined ? Number.NaN : sizeOf(schema.url)),
    serverMs: server.ms,
    async settle() {
      if (schema.url !== undefined) await asked(schema.url, 'VACUUM (ANALYZE)')
    },
    async close() {
      await opened.close()
      server.stop()
      await remove()
    },
  }
}

/** The server's processes for pools, and their processor time. */
interface Backends {
  /** Counts the connections of a pool from now on. Returns the pool. */
  heard(pool: ReturnType<TestSchema['pool']>): ReturnType<TestSchema['pool']>
  readonly ms: () => number
  stop(): void
}

/** Interval of reading the time of processes, which end with their connections. */
const LOOK_MS = 50

function backendsOf(): Backends {
  const used = new Map<number, number>()
  const look = (): void => {
    for (const pid of used.keys()) used.set(pid, useOf(pid)?.processorMs ?? used.get(pid) ?? 0)
  }
  const looking = setInterval(look, LOOK_MS).unref()
  return {
    heard(pool) {
      pool.on('acquire', (client) => {
        const pid = Number(Reflect.get(client, 'processID'))
        used.set(pid, used.get(pid) ?? 0)
      })
      return pool
    },
    ms() {
      look()
      return used.values().reduce((sum, ms) => sum + ms, 0)
    },
    stop: () => clearInterval(looking),
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
