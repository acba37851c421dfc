import { AMOUNT, checkOptions, CLOCK, FLAG, having, inputShape, listOf, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import { conceptsIn } from './concepts.js'
import { connectionsOf, type Connections } from './database/connections.js'
import { databaseOver, type Database } from './database/database.js'
import { bearsTransactions, makeIndexes, migrate, migrateToFill } from './database/migrations.js'
import type { PostgresPool } from './database/sql.js'
import { readingFrom } from './database/replicas.js'
import { revisionOf } from './resources/revision.js'
import { listeningNews, notifying } from './sessions/session-news.js'
import { sessionsIn, usersIn } from './sessions/sessions.js'
import { storageIn, type StorageOptions } from './resources/storage.js'

/** How a database is used. */
export interface OpenPostgresOptions {
  /** The clock of `lastUpdated`. */
  readonly now?: () => Date
  /** How long a call waits for a connection, then it fails with `storage-timeout`. Default 5,000. */
  readonly connectTimeoutMs?: number
  /** How long one statement may take, then it fails with `storage-timeout`. Default 5,000. */
  readonly statementTimeoutMs?: number
  /** Accept a server with `synchronous_commit` or `fsync` off, which may lose acknowledged writes. Default false. */
  readonly allowLossyCommits?: boolean
  /**
   * Notify other processes of ended sessions (NOTIFY). Default true; false for engines without it, where a session cache
   * (`sessionCacheMs`) then stays off.
   */
  readonly notify?: boolean
  /**
   * The connections go through a pooler that shares them between transactions, such as pgbouncer with `pool_mode = transaction`. Then nothing is
   * kept in a connection: no statement is prepared by name, `notify` must be false, and the time limit is what the server has for the role
   * (`ALTER ROLE ... SET statement_timeout`), instead of `statementTimeoutMs`. Default false.
   */
  readonly transactionPooling?: boolean
  /**
   * Pools of standbys of the same database, each of one server: searches, counts, scans and pages of histories are read there, in turn, once the
   * standby has everything that any process had acknowledged when the call began; else on the primary. They are ended by `close`. Default none.
   */
  readonly replicas?: readonly PostgresPool[]
  /** Whether replaced and deleted versions are kept. Default true; false leaves `history` out and keeps none from now on. */
  readonly history?: boolean
  /**
   * Characters of large texts that are kept with what was parsed of them, so that a large definition is not sent and parsed for every
   * request. What is kept is used only while the database says that it is current. Default 32 million; 0 keeps nothing.
   */
  readonly cacheCharacters?: number
}

/** A database with everything that is kept in it. */
export interface PostgresDatabase {
  readonly storage: Storage
  readonly sessions: SessionStore
  /** Sections are read whole when a version is opened. */
  readonly concepts: ConceptStore
  /** Finishes what was called before and ends the pool; the same as `storage.close`. */
  close(): Promise<void>
}

/**
 * Opens a PostgreSQL database over a pool, and makes or completes its tables, in the schema that the connections have first in their
 * `search_path`. Any number of processes may do so at the same time and see each other's writes at once. A write is acknowledged after
 * its commit; one whose commit was not answered fails with `storage-unavailable`, and whether it was done is not known.
 *
 * @param pool It is ended by `close`.
 * @throws {OperationError} `storage-unavailable` when the server cannot be reached, has another encoding than UTF-8, or may lose
 *   acknowledged writes; `storage-damaged` when a newer version of this adapter wrote the database.
 *   With `transactionPooling`, `storage-unavailable` also when the role has no `statement_timeout`.
 * @throws {TypeError} when `pool` is anything but a pool, such as a connection (`pg.Client`) or a PGlite, and for an option that is unknown or of
 *   another type.
 */
export async function openPostgres(pool: PostgresPool, options: OpenPostgresOptions = {}): Promise<PostgresDatabase> {
  const opening = openingOf('openPostgres', pool, options)
  await migrate(opening.db)
  return opened(opening, options)
}

/** A load waits for others, such as for somebody who makes the indexes, rather than fail. */
const FILLING_TIMEOUT_MS = 600_000

/**
 * Opens a database like `openPostgres`, for a first load. When it holds no resource, the indexes by search parameters are made by `close`, of all
 * resources at once, which is less work; if `close` is not reached, by the next process that opens the database, or by its `close` where it is opened
 * to be filled again. Searches by search parameters read everything until then, those of other processes too, so nothing should serve from it yet. A
 * statement may take ten minutes by default.
 *
 * @throws {OperationError} as `openPostgres`; `close` also `storage-full`, after which everything that was written is there.
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
  return opened({ ...opening, db: { ...db, close: async () => (closing ??= close()) } }, options)
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
    // Nothing is committed there.
    return databaseOver(replica, connectionsOf(replica, { ...limits, allowLossyCommits: true }))
  })
  return { connections, db: databaseOver(pool, connections), replicas }
}

async function opened({ connections, db, replicas }: Opening, options: OpenPostgresOptions): Promise<PostgresDatabase> {
  const news = listeningNews(connections)
  const close = async (): Promise<void> => {
    await news.close()
    await Promise.all([db, ...replicas].map((each) => each.close()))
  }
  const { notify = true } = options
  const revision = revisionOf(db)
  const kept = { ...storageOptionsOf(options), reading: readingFrom(db, replicas), bearsTransactions: await bearsTransactions(db) }
  const announced = notify ? notifying : (change: Parameters<typeof notifying>[0]) => change
  return {
    storage: { ...storageIn({ ...db, close }, kept), revision },
    sessions: { ...usersIn(db, announced), ...sessionsIn(db, announced), news: notify ? news : DEAF },
    concepts: { ...conceptsIn(db), revision },
    close,
  }
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

/** Connections look like pools, and would fail at the first call, with an error that names no cause. */
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
}: OpenPostgresOptions): Omit<StorageOptions, 'reading' | 'bearsTransactions'> {
  return { now, history, cacheCharacters }
}

/** For processes that cannot listen to changes: nothing is announced. */
const DEAF = { heard: false, onChange: () => {} }
