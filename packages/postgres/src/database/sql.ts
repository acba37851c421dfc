import { sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import { isObject } from 'fhir-ops/internal/json'
import { LRUCache } from 'lru-cache'

/** What a statement takes as a value. */
export type PostgresValue = string | number | boolean | null | Uint8Array | readonly (string | number | null)[]

/** One statement, as `pg` takes it. */
export interface PostgresQuery {
  /** Statements with a name are prepared once for each connection. */
  readonly name?: string
  readonly text: string
  readonly values: PostgresValue[]
  /** Milliseconds after which the driver gives up on the server's answer. */
  readonly query_timeout: number
}

/** The part of a pooled connection that this adapter calls. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Gives the connection back; `true` closes it instead. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notification', listener: () => void): unknown
}

/** The part of a pool that this adapter calls; `Pool` of `pg` fits. Each connection must be a session of its own. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  /** Reports a connection that was lost while it was idle. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Tells who is handed over next: a connection that is listened to from then on ends no process. Other pools than that of `pg` may not emit it. */
  on(event: 'acquire', listener: (client: PostgresClient) => void): unknown
  end(): Promise<unknown>
}

/** A row as the driver gives it. */
export type Row = Readonly<Record<string, unknown>>

/** The rows of an answer. */
export function rowsOf(rows: readonly unknown[]): readonly Row[] {
  return rows.filter(isObject)
}

/** A column that holds text. */
export function textAt(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`The column ${column} holds no text.`)
  return value
}

/** A column that holds a number; drivers give the larger ones as text. */
export function numberAt(row: Row, column: string): number {
  const value = row[column]
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw new TypeError(`The column ${column} holds no number.`)
  return number
}

/** A piece of SQL for PostgreSQL. */
export type Sql = AnySql<PostgresValue>

/** Writes SQL for PostgreSQL as a template; what is interpolated is bound. */
export const sql: SqlTag<PostgresValue> = sqlTag()

/** A statement, with a name when it is always the same except for its values. */
export interface Statement extends Sql {
  readonly name?: string
  /** How long the driver waits for the answer, where that is another time than for all statements. */
  readonly timeoutMs?: number
}

/** Names a statement so that each connection plans it once. */
export function prepared(name: string, { text, values }: Sql): Statement {
  return { name: `fhir_ops_${name}`, text, values }
}

/** A whole number that is part of the statement, so that the planner knows it: how many rows are wanted, never what a caller sends. */
export function literal(number: number): Sql {
  return { text: String(Math.max(-1, Math.min(Math.trunc(number), 2 ** 31 - 1))), values: [] }
}

/** Makes of statements what the driver takes. */
export type Queries = (statement: Statement, timeoutMs: number) => PostgresQuery

/** Statements that are remembered. */
const MAX_KNOWN = 1_000
/** Statements that are prepared besides those that have a name of their own: each takes memory of every connection. */
const MAX_PREPARED = 100
/** Longest of them, in characters: lists of many alternatives are seldom the same again, and their plans are large. */
const MAX_PREPARED_LENGTH = 8_000
/** Uses after which a statement is prepared. */
const USES = 3

interface Known {
  /** With numbered placeholders. */
  readonly text: string
  name: string | undefined
  uses: number
}

/**
 * Numbered placeholders, values that PostgreSQL can keep, and a name for what is asked again and again, so that each connection plans it once. No
 * SQL here has a `?` of its own.
 *
 * @param prepares False where connections are shared between transactions: then nothing has a name.
 */
export function createQueries(prepares: boolean): Queries {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN })
  let named = 0
  const lookUp = ({ text, name }: Statement): Known => {
    const found = known.get(text)
    if (found !== undefined) return found
    const fresh = { text: numbered(text), name: prepares ? name : undefined, uses: 0 }
    known.set(text, fresh)
    return fresh
  }
  return (statement, timeoutMs) => {
    const found = lookUp(statement)
    found.uses++
    const isWorthIt = found.uses === USES && found.text.length <= MAX_PREPARED_LENGTH
    if (prepares && found.name === undefined && isWorthIt && named < MAX_PREPARED) found.name = `fhir_ops_q${named++}`
    const { text, name } = found
    return {
      ...(name !== undefined && { name }),
      text,
      values: statement.values.map(keepable),
      query_timeout: statement.timeoutMs ?? timeoutMs,
    }
  }
}

function numbered(text: string): string {
  let count = 0
  return text.replaceAll('?', () => `$${++count}`)
}

function keepable(value: PostgresValue): PostgresValue {
  if (typeof value === 'string') return withoutNul(value)
  if (!Array.isArray(value)) return value
  return value.map((item) => (typeof item === 'string' ? withoutNul(item) : item))
}

/**
 * PostgreSQL's texts have no U+0000, and FHIR allows none. Where one comes all the same, in a value or in a question, it becomes a
 * code point that no text may have, so that both still agree.
 */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uffff') : text
}
