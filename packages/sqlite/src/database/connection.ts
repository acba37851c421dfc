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
