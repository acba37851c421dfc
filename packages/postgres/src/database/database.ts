import { setTimeout as after } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import type { Connection, Connections, Copy } from './connections.js'
import { connectionSurvives, storageFailure, wasOvertaken } from './failure.js'
import { sql, type PostgresPool, type Row, type Sql, type Statement } from './sql.js'

/** Runs statements. */
export interface Executor {
  rows(statement: Statement): Promise<readonly Row[]>
  /** Adds rows by COPY; absent outside transactions, and if the driver does not support it. */
  readonly copy?: (copy: Copy) => Promise<void>
}

/** The database as used by the stores: errors are `OperationError`s, and calls after `close` are refused. */
export interface Database extends Executor {
  /** Runs one statement in its own transaction. */
  rows(statement: Statement): Promise<readonly Row[]>
  /**
   * Runs `work` in a transaction. If another transaction prevents it, it is tried again, so `work` may run several times. A commit
   * with unknown outcome is an error and never tried again.
   */
  transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T>
  /** Runs `work`, which only reads, in a transaction whose statements all see the same state of the database. */
  snapshot<T>(work: (executor: Executor) => Promise<T>): Promise<T>
  /** Runs `work` on one connection, outside transactions. If another transaction prevents it, it is tried again. */
  session<T>(work: (executor: Executor) => Promise<T>): Promise<T>
  /** Finishes earlier calls and ends the pool; calling it again does nothing. */
  close(): Promise<void>
}

/** Wraps a pool and its connections. */
export function databaseOver(pool: PostgresPool, connections: Connections): Database {
  const running = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new OperationError('storage-unavailable', 'The storage is closed.')
    const call = retry(work)
    running.add(call)
    try {
      return await call
    } catch (error) {
      throw storageFailure(error)
    } finally {
      running.delete(call)
    }
  }
  const closeAll = async (): Promise<void> => {
    await Promise.allSettled(running)
    await pool.end()
  }
  return {
    rows: async (statement) => guarded(() => onConnection(connections, (connection) => connection.rows(statement))),
    transaction: async (work) => guarded(() => onConnection(connections, (connection) => commitWork(connection, work, BEGIN))),
    snapshot: async (work) => guarded(() => onConnection(connections, (connection) => commitWork(connection, work, BEGIN_SNAPSHOT))),
    session: async (work) => guarded(() => onConnection(connections, work)),
    close: async () => (closing ??= closeAll()),
  }
}

/** Attempts for one transaction before the call fails with `storage-locked`. */
const MAX_TRIES = 6
const FIRST_PAUSE_MS = 4

async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === MAX_TRIES || !wasOvertaken(error)) throw error
      await after(FIRST_PAUSE_MS * 2 ** (tries - 1) * Math.random())
    }
  }
}

async function onConnection<T>(connections: Connections, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connections.take()
  try {
    const result = await work(connection)
    connection.release('usable')
    return result
  } catch (error) {
    connection.release(connectionSurvives(error) ? 'usable' : 'broken')
    throw error
  }
}

async function commitWork<T>(connection: Connection, work: (executor: Executor) => Promise<T>, begin: Sql): Promise<T> {
  try {
    await connection.rows(begin)
    const result = await work(connection)
    await connection.rows(COMMIT)
    return result
  } catch (error) {
    // If the connection is lost, the server rolls back uncommitted changes.
    if (connectionSurvives(error)) await connection.rows(ROLLBACK)
    throw error
  }
}

const BEGIN = sql`BEGIN ISOLATION LEVEL READ COMMITTED`
const BEGIN_SNAPSHOT = sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
const COMMIT = sql`COMMIT`
const ROLLBACK = sql`ROLLBACK`
