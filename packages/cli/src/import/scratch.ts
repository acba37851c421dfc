import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/**
 * Tables in a temporary file, which an import joins while it goes on, so that memory does not grow with the release. A table is written first
 * and read then.
 */
export interface Scratch<Table extends string> {
  /** Adds a value under a key. A key may have many values; they keep their order. */
  add(table: Table, key: string, value: string): void
  /** The values of a key. */
  values(table: Table, key: string): readonly string[]
  /** Every key with its values, in the order of the keys. */
  rows(table: Table): Iterable<readonly [key: string, values: readonly string[]]>
  /** Every value, in the order in which they were added. */
  all(table: Table): Iterable<string>
  /** Number of values. */
  size(table: Table): number
  /** Number of keys that differ. */
  keys(table: Table): number
  /** Forgets everything. */
  close(): void
}

/** Bounds what of the tables is in memory. */
const CACHE_KIB = 32_768

/** Makes empty tables. */
export function openScratch<Table extends string>(names: readonly Table[]): Scratch<Table> {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-import-'))
  const db = new DatabaseSync(join(folder, 'scratch.db'))
  // Nobody opens the file again, so nothing has to survive; all of it is one transaction.
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}; BEGIN`)
  const tables = new Map(names.map((name, i) => [name, tableIn(db, `t${i}`)]))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // An open file without a name goes with the process, however that ends. Windows knows no such files.
  if (process.platform !== 'win32') remove()
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
    keys: (name) => Number(tableOf(name).indexed().keys.get()?.['count']),
    close() {
      db.close()
      remove()
    },
  }
}

interface ScratchTable {
  readonly insert: StatementSync
  readonly inOrder: StatementSync
  readonly size: StatementSync
  /** Statements that need the index, which is made at first use: filling a table that has one is slow. */
  readonly indexed: () => Indexed
}

interface Indexed {
  readonly select: StatementSync
  readonly byKey: StatementSync
  readonly keys: StatementSync
}

/** @param name One of our own, never one of a request. */
function tableIn(db: DatabaseSync, name: string): ScratchTable {
  db.exec(`CREATE TABLE ${name} (key TEXT NOT NULL, value TEXT NOT NULL)`)
  let statements: Indexed | undefined
  return {
    insert: db.prepare(`INSERT INTO ${name} VALUES (?, ?)`),
    size: db.prepare(`SELECT count(*) AS count FROM ${name}`),
    inOrder: db.prepare(`SELECT value FROM ${name} ORDER BY rowid`),
    indexed: () => (statements ??= indexedIn(db, name)),
  }
}

function indexedIn(db: DatabaseSync, name: string): Indexed {
  db.exec(`CREATE INDEX ${name}_key ON ${name} (key)`)
  return {
    select: db.prepare(`SELECT value FROM ${name} WHERE key = ? ORDER BY rowid`),
    byKey: db.prepare(`SELECT key, value FROM ${name} ORDER BY key, rowid`),
    keys: db.prepare(`SELECT count(DISTINCT key) AS count FROM ${name}`),
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
