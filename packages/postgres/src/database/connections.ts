import { OperationError } from 'fhir-ops/errors'
import { copyInOf, type Copy } from './copy.js'
import { rowsOf, createQueries, sql, type PostgresClient, type PostgresPool, type Row, type Queries, type Statement } from './sql.js'

/** Options for connections. */
interface ConnectionOptions {
  /** How long to wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number
  /** How long one statement may take, in milliseconds. */
  readonly statementTimeoutMs: number
  /** Accepts a server that acknowledges commits before they are on disk. */
  readonly allowLossyCommits: boolean
  /** Stores no state in a connection, because it serves somebody else after each transaction. Default false. */
  readonly transactionPooling?: boolean
}

/** A connection of the pool, set up for this adapter. */
export interface Connection {
  rows(statement: Statement): Promise<readonly Row[]>
  /** Adds rows by COPY; absent if the driver does not support it. */
  readonly copy?: (copy: Copy) => Promise<void>
  /** Returns the connection to the pool, or closes it if it is broken. */
  release(state: 'usable' | 'broken'): void
  onNotification(listener: () => void): void
  onEnd(listener: () => void): void
}

/** Takes connections from a pool. */
export interface Connections {
  take(): Promise<Connection>
}

/** The server cancels a statement first; this much later, the driver gives up on a server that no longer answers. */
const ANSWER_GRACE_MS = 1_000

/** Wraps a pool. */
export function connectionsOf(pool: PostgresPool, options: ConnectionOptions): Connections {
  const known = new WeakSet<PostgresClient>()
  const queries = createQueries(options.transactionPooling !== true)
  const listen = listenerOf(pool)
  return {
    async take() {
      const client = await inTime(pool, options.connectTimeoutMs)
      const connection = connectionOf(client, queries, options.statementTimeoutMs + ANSWER_GRACE_MS)
      if (known.has(client)) return connection
      listen(client)
      await setUp(connection, options)
      known.add(client)
      return connection
    },
  }
}

/**
 * Adds an error listener to connections, because an error without a listener ends the process. If a connection breaks while it is idle, the pool replaces
 * it; if it is in use, its call fails. The listener is added before the promise of the connection resolves: the message that ends a connection may arrive
 * together with the one that admits it.
 */
function listenerOf(pool: PostgresPool): (client: PostgresClient) => void {
  const heard = new WeakSet<PostgresClient>()
  const listen = (client: PostgresClient): void => {
    if (heard.has(client)) return
    heard.add(client)
    client.on('error', () => {})
  }
  pool.on('error', () => {})
  pool.on('acquire', listen)
  return listen
}

function connectionOf(client: PostgresClient, queries: Queries, timeoutMs: number): Connection {
  const copyIn = copyInOf(client)
  return {
    ...(copyIn !== undefined && { copy: async (copy) => copyIn(copy, timeoutMs) }),
    rows: async (statement) => rowsOf((await client.query(queries(statement, timeoutMs))).rows),
    release: (state) => client.release(state === 'broken'),
    onNotification: (listener) => void client.on('notification', listener),
    onEnd: (listener) => void client.on('end', listener),
  }
}

async function inTime(pool: PostgresPool, timeoutMs: number): Promise<PostgresClient> {
  const connecting = pool.connect()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new OperationError('storage-timeout', 'No connection to the database was made or became free in time.')),
    timeoutMs,
  )
  try {
    return await Promise.race([connecting, late])
  } catch (error) {
    void connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Switches JIT off: compiling a statement takes longer than running any of them, half a second if the planner expects many rows. Engines without this
 * setting are left unchanged.
 */
const JIT_OFF = sql`(SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit')`

async function setUp(
  connection: Connection,
  { statementTimeoutMs, allowLossyCommits, transactionPooling = false }: ConnectionOptions,
): Promise<void> {
  try {
    const timeout = transactionPooling
      ? sql`current_setting('statement_timeout')`
      : sql`set_config('statement_timeout', ${String(statementTimeoutMs)}, false)`
    const [row] = await connection.rows(sql`SELECT ${timeout} AS timeout, ${transactionPooling ? sql`NULL` : JIT_OFF} AS jit,
      current_setting('synchronous_commit') AS commits, current_setting('fsync', true) AS flushes, current_setting('server_encoding') AS encoding`)
    if (row?.['encoding'] !== 'UTF8') throw new OperationError('storage-unavailable', 'The encoding of the database must be UTF8.')
    if (transactionPooling && row['timeout'] === '0')
      throw new OperationError(
        'storage-unavailable',
        'The role of the database has no statement_timeout, which transactionPooling relies on.',
      )
    if (allowLossyCommits || (row['commits'] !== 'off' && row['flushes'] !== 'off')) return
    throw new OperationError(
      'storage-unavailable',
      'The database acknowledges commits before they are on disk (synchronous_commit or fsync is off).',
    )
  } catch (error) {
    connection.release('broken')
    throw error
  }
}
