import { OperationError } from 'fhir-ops/errors'
import { LRUCache } from 'lru-cache'
import { addFunctions, visiting, type SqliteConnection, type SqliteStatement, type SqliteValue } from './connection.js'
import { storageFailure } from './failure.js'
import { sql, type Sql } from './sql.js'

/** A row as an array, in the order of the selected columns. */
export type Row = readonly SqliteValue[]

/**
 * A connection as the rest of this package uses it: statements prepared once, rows as arrays, errors as `OperationError`. Everything
 * runs in the calling thread and blocks it.
 */
export interface SqliteDriver {
  /** Runs statements that take no values and give no rows. */
  exec(sql: string): void
  run(statement: Sql): void
  all(statement: Sql): readonly Row[]
  /** The first row. */
  get(statement: Sql): Row | undefined
  /** Passes on the columns `a` and `b`, which are numbers, of every row without making an object of it: there may be millions. */
  visit(rows: Sql, visit: (a: number, b: number) => void): void
  /** Prepares fixed SQL, which is not built again for every row that is written. */
  fixed(sql: string): FixedStatement
  /**
   * Runs reads with a time limit in milliseconds: statements that read many rows call `in_time()` on the way.
   *
   * @throws {OperationError} `storage-timeout` when they take longer, and what `read` throws.
   */
  limited<T>(ms: number, read: () => T): T
  /**
   * Runs reads with a time limit of their own, whatever is left of the outer one, and without counting towards it.
   *
   * @throws {OperationError} as `limited`.
   */
  apart<T>(ms: number, read: () => T): T
  /** Ends a transaction after an error, unless SQLite has ended it already, as it does when the disk is full. */
  rollBack(): void
  /**
   * Whether the connection is better opened again: it has prepared more statements than are kept, and the garbage collector, which does not know
   * their size, frees them late. Closing the connection frees them.
   */
  isWorn(): boolean
  close(): void
}

/** A statement whose values are bound in order. */
export interface FixedStatement {
  run(...values: SqliteValue[]): void
  /** The first row. */
  get(...values: SqliteValue[]): Row | undefined
}

/** Statements kept prepared for one connection, and characters of their texts, each of which counts as about 20 bytes. */
const MAX_STATEMENTS = 200
const MAX_CHARACTERS = 400_000
/** Characters of prepared statements after which a connection is worn. */
const WORN_CHARACTERS = 1_000_000

/** Puts the seam over a connection. */
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
    // A driver that cannot tell (node:sqlite before 22.16): there was none.
    if (isOpen === true) throw storageFailure(error)
  }
}

/** Runs `work` in a transaction of its own, which waits for other writers. */
export function transaction<T>(db: SqliteDriver, work: () => T): T {
  return within(db, 'BEGIN IMMEDIATE', work)
}

/** Runs reads that belong together on one state of the database. */
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

/** A column that holds text. */
export function textOf(value: SqliteValue | undefined): string {
  if (typeof value !== 'string') throw new TypeError('A text column holds no text.')
  return value
}

/** A column that holds a number. */
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

/** Drivers that know no array rows give objects, whose members are in the order of the columns. */
function rowOf(row: unknown): Row {
  if (Array.isArray(row)) return row
  if (typeof row === 'object' && row !== null) return Object.values(row)
  throw new TypeError('A row is neither an array nor an object.')
}
