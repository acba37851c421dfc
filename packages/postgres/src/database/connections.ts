import { OperationError } from 'fhir-ops/errors'
import {
  rowsOf,
  createQueries,
  sql,
  type PostgresClient,
  type PostgresPool,
  type Row,
  type Queries,
  type Statement,
  withoutNul,
  type PostgresValue,
} from './sql.js'

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
      current_setting('synchronous_commit') AS commits, current_setting('fsync', true) AS flushes, current_setting('server_encoding') AS encoding,
      current_schema() AS schema, current_setting('array_nulls', true) AS nulls`)
    const fault = unfitness(row ?? {}, { allowLossyCommits, transactionPooling })
    if (fault !== undefined) throw new OperationError('storage-unavailable', fault)
  } catch (error) {
    connection.release('broken')
    throw error
  }
}

/** Why a connection with these settings must not be used; `undefined` if it may be. */
function unfitness(
  { encoding, timeout, commits, flushes, schema, nulls }: Row,
  { allowLossyCommits, transactionPooling }: Pick<Required<ConnectionOptions>, 'allowLossyCommits' | 'transactionPooling'>,
): string | undefined {
  if (encoding !== 'UTF8') return 'The encoding of the database must be UTF8.'
  if (String(schema).startsWith('pg_temp'))
    return 'The search_path of the database begins with pg_temp, whose tables are gone when a connection ends.'
  if (nulls === 'off') return 'The setting array_nulls of the database must be on, or the word NULL is stored where there is no value.'
  if (transactionPooling && timeout === '0') return 'The role of the database has no statement_timeout, which transactionPooling relies on.'
  if (allowLossyCommits || (commits !== 'off' && flushes !== 'off')) return undefined
  return 'The database acknowledges commits before they are on disk (synchronous_commit or fsync is off).'
}

/** Rows to insert into a table by COPY. */
export interface Copy {
  /** `COPY ... FROM STDIN`, in text format. */
  readonly text: string
  readonly chunks: readonly Buffer[]
}

/** Runs a COPY on the connection; rejects with the driver's error. */
type CopyIn = (copy: Copy, timeoutMs: number) => Promise<void>

/** Values that can be copied. */
export type CopyValue = Extract<PostgresValue, string | number | null>

/** Characters per chunk of row text: many small messages take longer, and so does one huge one. */
const CHUNK_CHARACTERS = 65_536

/** Writes the rows in the text format of COPY. */
export function copyChunks(rows: Iterable<readonly CopyValue[]>): readonly Buffer[] {
  const chunks: Buffer[] = []
  let text = ''
  for (const row of rows) {
    text += `${row.map(field).join('\t')}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    chunks.push(Buffer.from(text))
    text = ''
  }
  return text === '' ? chunks : [...chunks, Buffer.from(text)]
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
])

/** Characters that need escapes. Most texts have none, and testing is faster than replacing nothing. */
const SPECIAL = /[\0\\\t\n\r]/

function field(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  return SPECIAL.test(value) ? escaped(value) : value
}

function escaped(text: string): string {
  return withoutNul(text).replaceAll(/[\\\t\n\r]/g, (found) => ESCAPES.get(found) ?? found)
}

/** The part of a `pg` connection's protocol that COPY needs. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** An object that `pg` runs instead of a query: it receives the connection, and then each message of the server. */
interface CopyQuery {
  readonly query_timeout: number
  /** Set by the driver, to end its time limit. */
  callback?: (error: unknown) => void
  submit(connection: CopyConnection): void
  handleCopyInResponse(connection: CopyConnection): void
  handleCommandComplete(): void
  handleReadyForQuery(): void
  handleError(error: unknown): void
}

interface CopyClient {
  readonly connection: CopyConnection
  query(copy: CopyQuery): unknown
}

/** Returns COPY for a client, if its driver supports it: `pg` does; its native bindings and other drivers do not. */
function copyInOf(client: PostgresClient): CopyIn | undefined {
  if (!takesCopies(client)) return undefined
  return async (copy, timeoutMs) =>
    new Promise<void>((resolve, reject) => {
      client.query(copyQuery(copy, timeoutMs, { resolve, reject }))
    })
}

function takesCopies(client: object): client is CopyClient {
  if (!('connection' in client)) return false
  const connection = Object(client.connection)
  return ['query', 'sendCopyFromChunk', 'endCopyFrom'].every((member) => typeof connection[member] === 'function')
}

interface Outcome {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function copyQuery({ text, chunks }: Copy, timeoutMs: number, { resolve, reject }: Outcome): CopyQuery {
  return {
    query_timeout: timeoutMs,
    submit: (connection) => connection.query(text),
    handleCopyInResponse(connection) {
      for (const chunk of chunks) connection.sendCopyFromChunk(chunk)
      connection.endCopyFrom()
    },
    handleCommandComplete: () => {},
    handleReadyForQuery() {
      this.callback?.(null)
      resolve()
    },
    handleError(error) {
      this.callback?.(error)
      reject(error)
    },
  }
}
