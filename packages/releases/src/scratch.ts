import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ImportWork } from './work.js'

/** Tables on disk, which an import joins while it runs, so that its memory does not grow with the release. */
export interface Scratch<Table extends string> {
  /** Adds a value under a key. A key may have many values, which keep their order. */
  add(table: Table, key: string, value: string): void
  /** Returns the values of a key. */
  values(table: Table, key: string): readonly string[]
  /** Returns all keys with their values, ordered by key. */
  rows(table: Table): Iterable<readonly [key: string, values: readonly string[]]>
  /** Returns all values, in insertion order. */
  all(table: Table): Iterable<string>
  /** Returns the number of values. */
  size(table: Table): number
}

/** Opens tables, including their existing content. A table must be filled before it is read. */
export function scratchIn<Table extends string>(db: DatabaseSync, names: readonly Table[]): Scratch<Table> {
  const tables = new Map(names.map((name, i) => [name, tableIn(db, `t${i}`)]))
  const tableOf = (name: Table): ScratchTable => {
    const table = tables.get(name)
    if (table === undefined) throw new TypeError(`There is no scratch table ${name}.`)
    return table
  }
  return {
    add: (name, key, value) => void tableOf(name).insert.run(key, value),
    values: (name, key) =>
      tableOf(name)
        .indexed()
        .select.all(key)
        .map(({ value }) => String(value)),
    rows: (name) => groupedRows(tableOf(name).indexed().byKey.iterate()),
    *all(name) {
      for (const { value } of tableOf(name).inOrder.iterate()) yield String(value)
    },
    size: (name) => Number(tableOf(name).size.get()?.['count']),
  }
}

interface ScratchTable {
  readonly insert: StatementSync
  readonly inOrder: StatementSync
  readonly size: StatementSync
  /** Statements that need the index, which is created on first use, because filling an indexed table is slow. */
  readonly indexed: () => Indexed
}

interface Indexed {
  readonly select: StatementSync
  readonly byKey: StatementSync
}

/** @param name One of our own names, never from a request. */
function tableIn(db: DatabaseSync, name: string): ScratchTable {
  db.exec(`CREATE TABLE IF NOT EXISTS ${name} (key TEXT NOT NULL, value TEXT NOT NULL)`)
  let statements: Indexed | undefined
  return {
    insert: db.prepare(`INSERT INTO ${name} VALUES (?, ?)`),
    size: db.prepare(`SELECT count(*) AS count FROM ${name}`),
    inOrder: db.prepare(`SELECT value FROM ${name} ORDER BY rowid`),
    indexed: () => (statements ??= indexedIn(db, name)),
  }
}

function indexedIn(db: DatabaseSync, name: string): Indexed {
  db.exec(`CREATE INDEX IF NOT EXISTS ${name}_key ON ${name} (key)`)
  return {
    select: db.prepare(`SELECT value FROM ${name} WHERE key = ? ORDER BY rowid`),
    byKey: db.prepare(`SELECT key, value FROM ${name} ORDER BY key, rowid`),
  }
}

function* groupedRows(rows: Iterable<Record<string, unknown>>): Generator<readonly [string, readonly string[]]> {
  let current: string | undefined
  let values: string[] = []
  for (const { key, value } of rows) {
    if (current !== undefined && key !== current) {
      yield [current, values]
      values = []
    }
    current = String(key)
    values.push(String(value))
  }
  if (current !== undefined) yield [current, values]
}

/** Number of rows after which progress is saved. */
const KEPT_ROWS = 50_000
const ALL = 'all'

/**
 * Iterates over the rows of a source that no earlier run has processed. Progress is saved at intervals and after the last row.
 *
 * @param source Identifies the source in the saved work.
 */
export async function* untakenRows<T>(work: ImportWork, source: string, rows: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const name = `rows of ${source}`
  const before = work.kept(name) ?? '0'
  if (before === ALL) return
  if (before !== '0') work.progress(`${source}: resuming after row ${before}`)
  let taken = 0
  for await (const row of rows) {
    if (taken++ < Number(before)) continue
    yield row
    if (taken % KEPT_ROWS > 0) continue
    work.keep(name, String(taken))
    work.progress(`… ${taken} rows of ${source}`)
  }
  work.keep(name, ALL)
}
