import { withoutNul, type PostgresClient, type PostgresValue } from './sql.js'

/** Rows on their way into a table by COPY. */
export interface Copy {
  /** `COPY ... FROM STDIN`, in the text format. */
  readonly text: string
  readonly chunks: readonly Buffer[]
}

/** Copies into the connection; rejects with the driver's error. */
export type CopyIn = (copy: Copy, timeoutMs: number) => Promise<void>

/** What a column of a row is copied as. */
export type CopyValue = Extract<PostgresValue, string | number | null>

/** Characters after which the text of the rows is sent on: many small messages and one huge one take longer. */
const CHUNK_CHARACTERS = 65_536

/** The rows in the text format of COPY. */
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

/** Most texts have none of these, and to look takes less time than to replace nothing. */
const SPECIAL = /[\0\\\t\n\r]/

function field(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  return SPECIAL.test(value) ? escaped(value) : value
}

function escaped(text: string): string {
  return withoutNul(text).replaceAll(/[\\\t\n\r]/g, (found) => ESCAPES.get(found) ?? found)
}

/** The part of the protocol of a connection of `pg` that a COPY needs. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** What `pg` runs instead of a query: it gets the connection, and then each message of the server. */
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

/** COPY over a client, where the driver has it: `pg` does, its native bindings and other drivers do not. */
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
