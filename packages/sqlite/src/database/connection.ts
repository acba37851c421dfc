import { hasBit, type Bits } from 'fhir-ops/internal/bits'

/** What SQLite columns hold here. */
export type SqliteValue = string | number | bigint | null | Uint8Array

/** The part of a prepared statement that this adapter calls. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown
  all(...values: SqliteValue[]): unknown[]
  /** node:sqlite: rows as arrays. */
  setReturnArrays?(enabled: boolean): void
  /** better-sqlite3: rows as arrays; throws for statements without rows. */
  raw?(enabled?: boolean): unknown
  /** better-sqlite3: whether the statement gives rows. */
  readonly reader?: boolean
}

/** The part of a SQLite connection that this adapter calls; `node:sqlite` and better-sqlite3 both fit. */
export interface SqliteConnection {
  exec(sql: string): unknown
  /** Gives a `SqliteStatement`; drivers type its values in ways of their own. */
  prepare(sql: string): object
  /** Makes a function that SQL may call, with as many values as the implementation has parameters. It need not give the same each time. */
  function(name: string, implementation: (...values: SqliteValue[]) => SqliteValue): unknown
  close(): unknown
  /** node:sqlite: whether a transaction is open. */
  readonly isTransaction?: boolean
  /** better-sqlite3: the same. */
  readonly inTransaction?: boolean
}

/** What the functions work with while a statement runs. One thread runs one statement at a time, over whatever connection. */
const running: { visit: ((a: number, b: number) => void) | undefined; members: Bits | undefined } = { visit: undefined, members: undefined }

/**
 * Adds the functions that statements call: `visit(a, b)` passes two numbers on, `is_member(key)` asks a set. Several stores over one connection add
 * them each, and the last counts for all.
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

/** Does reads that ask `is_member` of this set. */
export function asking<T>(members: Bits, read: () => T): T {
  running.members = members
  try {
    return read()
  } finally {
    running.members = undefined
  }
}
