import { AMOUNT, checkOptions, CLOCK, FLAG, having, inputShape, listOf, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import { conceptsIn } from './concepts.js'
import { connectionsOf, type Connections } from './database/connections.js'
import { databaseOver, type Database } from './database/database.js'
import { bearsTransactions, makeIndexes, migrate, migrateToFill } from './database/migrations.js'
import type { PostgresPool, PostgresClient } from './database/sql.js'
import { readingFrom } from './database/replicas.js'
import { canLockConditions } from './resources/conditional-writes.js'
import { revisionOf } from './resources/revision.js'
import { listeningNews, notifying, sessionsIn, usersIn } from './sessions/sessions.js'
import { storageIn, type StorageOptions } from './resources/storage.js'

/** Options of `openPostgres`. */
export interface OpenPostgresOptions {
  /** Clock for `lastUpdated`. Default: the system clock. */
  readonly now?: () => Date
  /** How long a call waits for a connection, in milliseconds, before it fails with `storage-timeout`. Default 5,000. */
  readonly connectTimeoutMs?: number
  /** How long one statement may take, in milliseconds, before it fails with `storage-timeout`. Default 5,000. */
  readonly statementTimeoutMs?: number
  /** Accepts a server with `synchronous_commit` or `fsync` off, which may lose acknowledged writes. Default false. */
  readonly allowLossyCommits?: boolean
  /**
   * Notifies other processes of ended sessions (NOTIFY). Default true; use false for engines without it, which disables the session cache
   * (`sessionCacheMs`).
   */
  readonly notify?: boolean
  /**
   * The connections go through a pooler that shares them between transactions, such as pgbouncer with `pool_mode = transaction`. Then no state is
   * stored in a connection: no statement is prepared by name, `notify` must be false, and the time limit is the one that the server sets for the role
   * (`ALTER ROLE ... SET statement_timeout`), instead of `statementTimeoutMs`. Default false.
   */
  readonly transactionPooling?: boolean
  /**
   * Pools of standbys of the same database, one per server. Searches, counts, scans and pages of histories are read there in turn, once the
   * standby has everything that any process had acknowledged when the call began; otherwise on the primary. `close` ends these pools. Default none.
   */
  readonly replicas?: readonly PostgresPool[]
  /** Stores replaced and deleted versions. Default true; with false, `history` is absent and no versions are stored from now on. */
  readonly history?: boolean
  /**
   * Size of the cache of large parsed resources, in characters of their text, so that a large definition is not sent and parsed for every
   * request. A cached resource is used only while the database confirms that it is current. Large versions on pages of histories have a cache of
   * the same size. Default 32 million; 0 disables both.
   */
  readonly cacheCharacters?: number
}

/** An open database, with all its stores. */
export interface PostgresDatabase {
  /** Resources with their history. */
  readonly storage: Storage
  /** Users and sessions. */
  readonly sessions: SessionStore
  /** Opening a version reads all its sections in full. */
  readonly concepts: ConceptStore
  /** Finishes earlier calls and ends the pool; the same as `storage.close`. */
  close(): Promise<void>
}

/**
 * Opens a PostgreSQL database over a pool, and creates or updates its tables, in the first schema of the connections'
 * `search_path`. Any number of processes may do so at the same time; they see each other's writes immediately. A write is acknowledged after
 * its commit; if the commit was not confirmed, it fails with `storage-unavailable`, and its outcome is unknown.
 *
 * @param pool A pool, which `close` ends.
 * @throws {OperationError} `storage-unavailable` if the server is unreachable, has another encoding than UTF-8, or may lose
 *   acknowledged writes; `storage-damaged` if a newer version of this adapter wrote the database.
 *   With `transactionPooling`, `storage-unavailable` also if the role has no `statement_timeout`.
 * @throws {TypeError} if `pool` is not a pool, but for example a connection (`pg.Client`) or a PGlite, and for an option that is unknown or of
 *   another type.
 */
export async function openPostgres(pool: PostgresPool, options: OpenPostgresOptions = {}): Promise<PostgresDatabase> {
  const opening = openingOf('openPostgres', pool, options)
  await migrate(opening.db)
  return openDatabase(opening, options)
}

/** Statement time limit of a first load: rather than fail, it waits for others, for example while another process creates the indexes. */
const FILLING_TIMEOUT_MS = 600_000

/**
 * Opens a database like `openPostgres`, for a first load. If it has no resources, the indexes on search parameters are created by `close`, for all
 * resources at once, which is less work; or, if `close` is not reached, by the next process that opens the database (by its `close`, if it opens it
 * with `openPostgresToFill`). Until then, searches by search parameters read everything, in other processes too, so the database should not serve
 * requests yet. Statements may take ten minutes by default.
 *
 * @throws {OperationError} as `openPostgres`; `close` also `storage-full`, after which everything that was written is still there.
 * @throws {TypeError} as `openPostgres`.
 */
export async function openPostgresToFill(pool: PostgresPool, options: OpenPostgresOptions = {}): Promise<PostgresDatabase> {
  const opening = openingOf('openPostgresToFill', pool, { statementTimeoutMs: FILLING_TIMEOUT_MS, ...options })
  const { db } = opening
  const isLeftOut = await migrateToFill(db)
  const close = async (): Promise<void> => {
    try {
      if (isLeftOut) await makeIndexes(db)
    } finally {
      await db.close()
    }
  }
  let closing: Promise<void> | undefined
  return openDatabase({ ...opening, db: { ...db, close: async () => (closing ??= close()) } }, options)
}

interface Opening {
  readonly connections: Connections
  readonly db: Database
  readonly replicas: readonly Database[]
}

function openingOf(factory: string, pool: PostgresPool, options: OpenPostgresOptions): Opening {
  checkPool(factory, pool)
  checkOptions(factory, SHAPE, options)
  const { connectTimeoutMs = 5_000, statementTimeoutMs = 5_000, allowLossyCommits = false, transactionPooling = false } = options
  if (transactionPooling && options.notify !== false)
    throw new TypeError(`${factory}: with transactionPooling, notify must be false, as a shared connection cannot listen.`)
  const limits = { connectTimeoutMs, statementTimeoutMs, transactionPooling }
  const connections = connectionsOf(pool, { ...limits, allowLossyCommits })
  const replicas = (options.replicas ?? []).map((replica) => {
    checkPool(factory, replica)
    // Nothing is committed on replicas.
    return databaseOver(replica, connectionsOf(replica, { ...limits, allowLossyCommits: true }))
  })
  return { connections, db: databaseOver(pool, connections), replicas }
}

async function openDatabase({ connections, db, replicas }: Opening, options: OpenPostgresOptions): Promise<PostgresDatabase> {
  const news = listeningNews(connections)
  const close = async (): Promise<void> => {
    await news.close()
    await Promise.all([db, ...replicas].map((each) => each.close()))
  }
  const { notify = true } = options
  const revision = revisionOf(db)
  const kept = { ...storageOptionsOf(options), reading: readingFrom(db, replicas), ...(await featuresOf(db)) }
  const announced = notify ? notifying : (change: Parameters<typeof notifying>[0]) => change
  return {
    storage: { ...storageIn({ ...db, close }, kept), revision },
    sessions: { ...usersIn(db, announced), ...sessionsIn(db, announced), news: notify ? news : DEAF },
    concepts: { ...conceptsIn(db), revision },
    close,
  }
}

async function featuresOf(db: Database): Promise<Pick<StorageOptions, 'bearsTransactions' | 'locksConditions'>> {
  return { bearsTransactions: await bearsTransactions(db), locksConditions: await canLockConditions(db) }
}

const POOL = having('a pool', ['connect', 'on', 'end'])

const SHAPE: InputShape = inputShape<OpenPostgresOptions>({
  now: CLOCK,
  connectTimeoutMs: AMOUNT,
  statementTimeoutMs: AMOUNT,
  allowLossyCommits: FLAG,
  notify: FLAG,
  transactionPooling: FLAG,
  history: FLAG,
  cacheCharacters: AMOUNT,
  replicas: listOf(POOL),
})

/** Checks the pool. A connection looks like a pool, and would fail at the first call with an error that does not name the cause. */
function checkPool(factory: string, pool: object): void {
  const is = (...members: readonly string[]): boolean => members.every((member) => member in Object(pool))
  if (is('execProtocol', 'waitReady'))
    throw new TypeError(`${factory}: the pool is a PGlite, which is one connection. Pass pglitePool(db) of @fhir-ops/postgres.`)
  if (is('connectionParameters', 'escapeIdentifier'))
    throw new TypeError(`${factory}: the pool is a connection (Client of pg). Pass a pool: new Pool(config) of pg.`)
  if (!POOL.is(pool)) throw new TypeError(`${factory}: the pool must be ${POOL.words}; Pool of pg is one.`)
}

const DEFAULT_CACHE = 32_000_000

function storageOptionsOf({
  now = () => new Date(),
  history = true,
  cacheCharacters = DEFAULT_CACHE,
}: OpenPostgresOptions): Pick<StorageOptions, 'now' | 'history' | 'cacheCharacters'> {
  return { now, history, cacheCharacters }
}

/** For processes that cannot listen to changes. */
const DEAF = { heard: false, onChange: () => {} }

/** The part of a PGlite (`@electric-sql/pglite`) that `pglitePool` calls. */
export interface PgliteDatabase {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/**
 * Creates a pool over the single connection of a PGlite, which callers use one at a time. `openPostgres` requires `notify: false` with it, because one
 * connection cannot listen and work, and `allowLossyCommits: true`. The PGlite stays open when the pool ends.
 */
export function pglitePool(db: PgliteDatabase): PostgresPool {
  let free = Promise.resolve()
  return {
    async connect() {
      const before = free
      const { promise, resolve } = Promise.withResolvers<void>()
      free = promise
      await before
      return clientOn(db, resolve)
    },
    on: () => undefined,
    end: async () => free,
  }
}

function clientOn(db: PgliteDatabase, release: () => void): PostgresClient {
  return {
    query: async ({ text, values }) => db.query(text, values),
    release,
    on: () => undefined,
  }
}
