import { hasBit, type Bits } from 'fhir-ops/internal/bits'
import { joined, sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'

/** Values of SQLite columns. */
export type SqliteValue = string | number | bigint | null | Uint8Array

/** The part of a prepared statement that this adapter calls. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown[]
  /** In node:sqlite: returns rows as arrays. */
  setReturnArrays?(enabled: boolean): void
  /** In better-sqlite3: returns rows as arrays; throws for statements without rows. */
  raw?(enabled?: boolean): unknown
  /** In better-sqlite3: whether the statement returns rows. */
  readonly reader?: boolean
}

/** The part of a SQLite connection that this adapter calls; `node:sqlite` and better-sqlite3 both fit. */
export interface SqliteConnection {
  exec(sql: string): unknown
  /** Returns a `SqliteStatement`; drivers type its values differently. */
  prepare(sql: string): object
  /** Registers a function that SQL can call, with as many arguments as the implementation has parameters. It need not be deterministic. */
  function(name: string, implementation: (...values: SqliteValue[]) => SqliteValue): unknown
  close(): unknown
  /** In node:sqlite: whether a transaction is open. */
  readonly isTransaction?: boolean
  /** In better-sqlite3: whether a transaction is open. */
  readonly inTransaction?: boolean
}

/** State of the registered functions while a statement runs. A thread runs one statement at a time, over all its connections. */
const running: { visit: ((a: number, b: number) => void) | undefined; members: Bits | undefined } = { visit: undefined, members: undefined }

/**
 * Registers the functions that statements call: `visit(a, b)` passes on two numbers, `is_member(key)` tests membership in a set. Several stores may share
 * a connection; each registers them, and the last registration is used by all.
 */
export function addFunctions(connection: SqliteConnection): void {
  connection.function('visit', (a?: SqliteValue, b?: SqliteValue) => {
    if (running.visit === undefined || typeof a !== 'number' || typeof b !== 'number') throw new TypeError('Nobody waits for these rows.')
    running.visit(a, b)
    return 0
  })
  connection.function('is_member', (key?: SqliteValue) => {
    if (running.members === undefined || typeof key !== 'number') throw new TypeError('There is no set to ask.')
    return hasBit(running.members, key) ? 1 : 0
  })
}

/** Runs a statement that calls `visit`. */
export function visiting(visit: (a: number, b: number) => void, run: () => void): void {
  running.visit = visit
  try {
    run()
  } finally {
    running.visit = undefined
  }
}

/** Runs reads whose statements call `is_member` on this set. */
export function asking<T>(members: Bits, read: () => T): T {
  running.members = members
  try {
    return read()
  } finally {
    running.members = undefined
  }
}

/** An SQL fragment for SQLite. */
export type Sql = AnySql<SqliteValue>

/** Template tag for SQL of SQLite; interpolated values are bound. */
export const sql: SqlTag<SqliteValue> = sqlTag()

/** Combines conditions as `(a OP b) OP (c OP d)`: the depth grows logarithmically, because SQLite limits the depth of expressions. An empty list is true. */
export function balanced(pieces: readonly Sql[], operator: 'AND' | 'OR'): Sql {
  const [first, second] = pieces
  if (first === undefined) return sql`1`
  if (second === undefined) return first
  const middle = Math.ceil(pieces.length / 2)
  return joined([sql`(${balanced(pieces.slice(0, middle), operator)}`, sql`${balanced(pieces.slice(middle), operator)})`], ` ${operator} `)
}
