import { joined, sqlTag, type Sql as AnySql, type SqlTag } from '@fhir-ops/sql'
import { OperationError } from 'fhir-ops/errors'
import { hasBit, type Bits } from 'fhir-ops/internal/bits'
import { LRUCache } from 'lru-cache'
import { storageFailure } from './failure.js'

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
function addFunctions(connection: SqliteConnection): void {
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
function visiting(visit: (a: number, b: number) => void, run: () => void): void {
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

/** A row as an array of the selected columns. */
export type Row = readonly SqliteValue[]

/**
 * The interface to a connection that the rest of this package uses: statements are prepared once, rows are arrays, errors are `OperationError`s. Everything
 * runs in the calling thread and blocks it.
 */
export interface SqliteDriver {
  /** Runs statements without values and results. */
  exec(sql: string): void
  run(statement: Sql): void
  all(statement: Sql): readonly Row[]
  /** Returns the first row. */
  get(statement: Sql): Row | undefined
  /** Passes the numeric columns `a` and `b` of every row to a function, without creating an object per row: there may be millions. */
  visit(rows: Sql, visit: (a: number, b: number) => void): void
  /** Prepares constant SQL, which is not assembled again for each written row. */
  fixed(sql: string): FixedStatement
  /**
   * Runs reads with a time limit in milliseconds: statements that read many rows call `in_time()` while they run.
   *
   * @throws {OperationError} `storage-timeout` if they take longer; any error of `read`.
   */
  limited<T>(ms: number, read: () => T): T
  /**
   * Runs reads with their own time limit, independent of an enclosing limit, and without counting towards it.
   *
   * @throws {OperationError} as `limited`.
   */
  apart<T>(ms: number, read: () => T): T
  /** Rolls back a transaction after an error, unless SQLite has already done so, as it does if the disk is full. */
  rollBack(): void
  /**
   * True if the connection should be reopened: it has prepared more statements than the cache holds, and the garbage collector, which does not know
   * their size, frees them late. Closing the connection frees them.
   */
  isWorn(): boolean
  close(): void
}

/** A prepared statement whose values are bound in order. */
interface FixedStatement {
  run(...values: SqliteValue[]): void
  /** Returns the first row. */
  get(...values: SqliteValue[]): Row | undefined
}

/** Limits of the statement cache of a connection: number of statements, and total characters of SQL. A character stands for about 20 bytes. */
const MAX_STATEMENTS = 200
const MAX_CHARACTERS = 400_000
/** Number of characters of prepared SQL after which a connection should be reopened. */
const WORN_CHARACTERS = 1_000_000

/** Wraps a connection in the driver interface. */
export function sqliteDriver(connection: SqliteConnection): SqliteDriver {
  const statements = new LRUCache<string, SqliteStatement>({
    max: MAX_STATEMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_statement, text) => text.length,
  })
  let preparedCharacters = 0
  const prepared = (text: string): SqliteStatement => {
    const known = statements.get(text)
    if (known !== undefined) return known
    const statement = arrayRows(connection.prepare(text))
    preparedCharacters += text.length
    statements.set(text, statement)
    return statement
  }
  addFunctions(connection)
  return {
    exec: (text) => wrapped(() => void connection.exec(text)),
    run: ({ text, values }) => wrapped(() => void prepared(text).run(...values)),
    all: ({ text, values }) =>
      wrapped(() =>
        prepared(text)
          .all(...values)
          .map(rowOf),
      ),
    get: ({ text, values }) => wrapped(() => firstRow(prepared(text), values)),
    visit(rows, visit) {
      const { text, values } = sql`SELECT sum(visit(a, b)) FROM (${rows})`
      visiting(visit, () => wrapped(() => void firstRow(prepared(text), values)))
    },
    fixed(text) {
      const statement = wrapped(() => prepared(text))
      return {
        run: (...values) => wrapped(() => void statement.run(...values)),
        get: (...values) => wrapped(() => firstRow(statement, values)),
      }
    },
    ...timeLimits(connection),
    isWorn: () => preparedCharacters > WORN_CHARACTERS,
    rollBack: () => rollBack(connection),
    close: () => wrapped(() => void connection.close()),
  }
}

function timeLimits(connection: SqliteConnection): Pick<SqliteDriver, 'limited' | 'apart'> {
  let end = Number.POSITIVE_INFINITY
  connection.function('in_time', () => {
    if (performance.now() >= end) throw new OperationError('storage-timeout', 'The database took too long.')
    return 1
  })
  return {
    limited(ms, read) {
      end = performance.now() + ms
      try {
        return read()
      } finally {
        end = Number.POSITIVE_INFINITY
      }
    },
    apart(ms, read) {
      const start = performance.now()
      const left = end - start
      end = start + ms
      try {
        return read()
      } finally {
        end = performance.now() + left
      }
    },
  }
}

function rollBack(connection: SqliteConnection): void {
  const isOpen = connection.isTransaction ?? connection.inTransaction
  if (isOpen === false) return
  try {
    connection.exec('ROLLBACK')
  } catch (error) {
    // This driver does not report whether a transaction was open (node:sqlite before 22.16), so assume that there was none.
    if (isOpen === true) throw storageFailure(error)
  }
}

/** Runs `work` in its own transaction, which waits for other writers. */
export function transaction<T>(db: SqliteDriver, work: () => T): T {
  return within(db, 'BEGIN IMMEDIATE', work)
}

/** Runs several reads on the same state of the database. */
export function snapshot<T>(db: SqliteDriver, work: () => T): T {
  return within(db, 'BEGIN', work)
}

function within<T>(db: SqliteDriver, begin: string, work: () => T): T {
  db.exec(begin)
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    db.rollBack()
    throw error
  }
}

/** Returns the value of a text column. */
export function textOf(value: SqliteValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError('A text column holds no text.')
  return value
}

/** Returns the value of a numeric column. */
export function numberOf(value: SqliteValue | undefined): number {
  if (typeof value !== 'number') throw new TypeError('A number column holds no number.')
  return value
}

function wrapped<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storageFailure(error)
  }
}

function arrayRows(statement: object): SqliteStatement {
  if (!isStatement(statement)) throw new TypeError('Not a node:sqlite or better-sqlite3 connection.')
  if (statement.setReturnArrays !== undefined) statement.setReturnArrays(true)
  else if (statement.reader === true) statement.raw?.(true)
  return statement
}

function isStatement(statement: object): statement is SqliteStatement {
  return 'run' in statement && 'all' in statement
}

function firstRow(statement: SqliteStatement, values: readonly SqliteValue[]): Row | undefined {
  const [row] = statement.all(...values)
  return row === undefined ? undefined : rowOf(row)
}

/** Converts a row. Drivers that do not support array rows return objects, whose members are in the order of the columns. */
function rowOf(row: unknown): Row {
  if (Array.isArray(row)) return row
  if (typeof row === 'object' && row !== null) return Object.values(row)
  throw new TypeError('A row is neither an array nor an object.')
}
