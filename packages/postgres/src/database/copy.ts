import { withoutNul, type PostgresClient, type PostgresValue } from './sql.js'

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
export function copyInOf(client: PostgresClient): CopyIn | undefined {
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
