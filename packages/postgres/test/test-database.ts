import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { pglitePool, type PostgresPool } from '../src/index.js'
import { testServer } from './test-server.js'

/** Options for what is not tested for its limits: a busy machine does not reach them, and nothing is lost that a test keeps. */
export const UNHURRIED = { allowLossyCommits: true, connectTimeoutMs: 600_000, statementTimeoutMs: 600_000 } as const

/** A database for tests, with room for any number of storages beside each other. */
export interface TestDatabase {
  /** What is tested against, for people. */
  readonly name: string
  /** Absent for a database inside the process. */
  readonly url?: string
  /** Makes an empty schema. */
  schema(): Promise<TestSchema>
  remove(): Promise<void>
}

/** A database that others use too. */
export type SharedDatabase = Omit<TestDatabase, 'remove'>

/** A schema of its own. */
export interface TestSchema {
  /** Connections by this URL use the schema; absent for a database inside the process. */
  readonly url?: string
  /** A pool whose connections use the schema. */
  pool(options?: pg.PoolConfig): PostgresPool
  drop(): Promise<void>
}

/**
 * The database of `DATABASE_URL`, else one on a server of the tests' own, else PGlite in the process; what it is, is printed.
 *
 * @param settings Of a server of the tests' own.
 */
export async function testDatabase(settings: Readonly<Record<string, string>> = {}): Promise<TestDatabase> {
  const url = process.env['DATABASE_URL']
  const database =
    url === undefined || url === ''
      ? await ownDatabase(settings)
      : { name: 'the server of DATABASE_URL', ...onServer(url, 'clean'), remove: async () => {} }
  process.stdout.write(`PostgreSQL tests run against ${database.name}\n`)
  return database
}

/** What `sharedDatabase` gives in this process. */
let shared: Promise<SharedDatabase> | undefined

/**
 * As `testDatabase`, on one server for all files of this process, which starts when the first of them asks and ends with the run: starting one takes longer than
 * most files. For tests that make schemas of their own, and neither stop the server nor set it up. It flushes nothing, since nothing here stops a machine.
 */
export function sharedDatabase(): Promise<SharedDatabase> {
  shared ??= testDatabase({ fsync: 'off' })
  return shared
}

async function ownDatabase(settings: Readonly<Record<string, string>>): Promise<TestDatabase> {
  const server = await testServer(settings)
  if (server === undefined) return inProcess()
  return { name: server.name, ...onServer(server.url, 'anyhow'), remove: () => server.remove() }
}

/** @param leave A server of somebody else's is left as it was. */
function onServer(url: string, leave: 'clean' | 'anyhow'): Pick<TestDatabase, 'url' | 'schema'> {
  return {
    url,
    async schema() {
      const name = `fhir_ops_${randomUUID().replaceAll('-', '')}`
      await once(url, `CREATE SCHEMA ${name}`)
      return {
        url: `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c search_path=${name}`)}`,
        pool: (options) => new pg.Pool({ connectionString: url, options: `-c search_path=${name}`, max: 10, ...options }),
        drop: async () => (leave === 'clean' ? once(url, `DROP SCHEMA ${name} CASCADE`) : undefined),
      }
    },
  }
}

async function once(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

/**
 * Lends the connections of a pool to storages, one after the other: making them takes longer than most tests of a contract. Each storage gets them as if
 * they were new, in a pool that it may close.
 */
export function lender(pool: PostgresPool): () => PostgresPool {
  if (!(pool instanceof pg.Pool)) return () => ({ connect: () => pool.connect(), on: () => {}, end: async () => {} })
  // Every storage listens to the connections that it gets.
  pool.on('connect', (client) => void client.setMaxListeners(0))
  return () => {
    const [renewed, listening] = [new WeakSet<pg.PoolClient>(), [] as Parameters<EventEmitter['on']>[]]
    return {
      async connect() {
        const client = await pool.connect()
        if (!renewed.has(client)) await renew(client)
        renewed.add(client)
        return client
      },
      on(...args: Parameters<EventEmitter['on']>) {
        listening.push(args)
        Reflect.apply(pool.on, pool, args)
      },
      async end() {
        for (const args of listening) Reflect.apply(pool.off, pool, args)
      },
    }
  }
}

/** Ends settings, subscriptions and prepared statements of a session. The driver has a list of the statements, too. */
async function renew(client: pg.PoolClient): Promise<void> {
  await client.query('DISCARD ALL')
  Reflect.set(Reflect.get(client, 'connection'), 'parsedStatements', {})
}

/** One connection, and so one schema at a time. */
async function inProcess(): Promise<TestDatabase> {
  // Large, and seldom needed.
  const { PGlite } = await import('@electric-sql/pglite')
  const db = await PGlite.create()
  return {
    name: 'PGlite in the process, as no PostgreSQL server could be had',
    async schema() {
      await db.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
      return { pool: () => pglitePool(db), drop: async () => {} }
    },
    remove: () => db.close(),
  }
}
