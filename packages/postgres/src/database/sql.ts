import { sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import { isObject } from 'fhir-ops/internal/json'
import { LRUCache } from 'lru-cache'

/** Values of statement parameters. */
export type PostgresValue = string | number | boolean | null | Uint8Array | readonly (string | number | null)[]

/** A statement in the form that `pg` accepts. */
export interface PostgresQuery {
  /** A named statement is prepared once per connection. */
  readonly name?: string
  readonly text: string
  readonly values: PostgresValue[]
  /** Milliseconds after which the driver gives up on the server's answer. */
  readonly query_timeout: number
}

/** The part of a pooled connection that this adapter calls. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Returns the connection to the pool; `true` closes it instead. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notification', listener: () => void): unknown
}

/** The part of a pool that this adapter calls; `Pool` of `pg` fits. Each connection must be a separate session. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  /** Reports an idle connection that was lost. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Reports each connection before it is handed out, so that a listener for its errors can be added. Other pools than that of `pg` may not emit it. */
  on(event: 'acquire', listener: (client: PostgresClient) => void): unknown
  end(): Promise<unknown>
}

/** A row as returned by the driver. */
export type Row = Readonly<Record<string, unknown>>

/** Returns the rows of a result. */
export function rowsOf(rows: readonly unknown[]): readonly Row[] {
  return rows.filter(isObject)
}

/** Returns the value of a text column. */
export function textAt(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`The column ${column} holds no text.`)
  return value
}

/** Returns the value of a numeric column; drivers return large numbers as text. */
export function numberAt(row: Row, column: string): number {
  const value = row[column]
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number' || Number.isNaN(number)) throw new TypeError(`The column ${column} holds no number.`)
  return number
}

/** An SQL fragment for PostgreSQL. */
export type Sql = AnySql<PostgresValue>

/** Template tag for SQL of PostgreSQL; interpolated values are bound. */
export const sql: SqlTag<PostgresValue> = sqlTag()

/** A statement, with a name if its text is always the same. */
export interface Statement extends Sql {
  readonly name?: string
  /** How long the driver waits for the answer, if it differs from the general limit, in milliseconds. */
  readonly timeoutMs?: number
}

/** Names a statement, so that each connection plans it once. */
export function prepared(name: string, { text, values }: Sql): Statement {
  return { name: `fhir_ops_${name}`, text, values }
}

/** A whole number as part of the statement, so that the planner knows it: used for row limits, never for values of callers. */
export function literal(number: number): Sql {
  return { text: String(Math.max(-1, Math.min(Math.trunc(number), 2 ** 31 - 1))), values: [] }
}

/** Converts statements to the form that the driver accepts. */
export type Queries = (statement: Statement, timeoutMs: number) => PostgresQuery

/** Number of statements that are remembered. */
const MAX_KNOWN = 1_000
/** Number of statements that are prepared in addition to named ones: each uses memory in every connection. */
const MAX_PREPARED = 100
/** Maximum length of such a statement in characters: long lists of alternatives are rarely repeated, and their plans are large. */
const MAX_PREPARED_LENGTH = 8_000
/** Number of uses after which a statement is prepared. */
const USES = 3

interface Known {
  /** Text with numbered placeholders. */
  readonly text: string
  name: string | undefined
  uses: number
}

/**
 * Converts statements: numbers the placeholders, replaces values that PostgreSQL cannot store, and names repeated statements, so that each connection
 * plans them once. No SQL of this package contains a literal `?`.
 *
 * @param prepares False if connections are shared between transactions: then no statement is named.
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
 * Replaces U+0000, which PostgreSQL's texts cannot contain and FHIR does not allow. If one occurs anyway, in a value or in a query, it becomes a
 * code point that no text may contain, so that both still match.
 */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uffff') : text
}
