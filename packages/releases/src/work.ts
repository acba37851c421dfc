import { mkdtempSync, rmSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, stringAt } from 'fhir-ops/internal/json'
import type { ReleaseFile } from './release-file.js'

/** Intermediate results of an import, in a file with which the next run of the same import continues. Not visible to others. */
export interface ImportWork {
  readonly db: DatabaseSync
  /** Receives progress messages. */
  readonly progress: (message: string) => void
  /** Returns the value that an earlier run saved under the name. */
  kept(name: string): string | undefined
  /** Saves a value, together with everything that was written before. */
  keep(name: string, value: string): void
  /** Closes the file. It remains for the next run, unless it is temporary. */
  close(): void
  /** Closes and removes the file, when the import is done. */
  remove(): void
}

/** Where an import stores its intermediate results. */
export interface WorkOptions {
  /** File that remains if the import is interrupted. Default: a temporary file, so that the next run starts over. */
  readonly work?: string | undefined
  /** Receives progress messages. */
  readonly progress: (message: string) => void
}

/** Application id of SQLite files with the work of an import. */
const APPLICATION_ID = 0x66_68_69_6d
/** Limits how much of the file is in memory, in KiB. */
const CACHE_KIB = 32_768
const BUSY = 5
const FULL = 13

/**
 * Runs an import with its work file, which is removed at the end, but remains after an interruption.
 *
 * @throws {OperationError} `storage-full` if there is no disk space for the work; the errors of `openWork` and of the import.
 */
export async function inWork<T>(options: WorkOptions, source: ImportSource, run: (work: ImportWork) => Promise<T>): Promise<T> {
  const work = await openWork(options, source)
  try {
    const made = await run(work)
    work.remove()
    return made
  } catch (cause) {
    if (!isObject(cause) || cause['errcode'] !== FULL) throw cause
    const place = options.work ?? 'the folder for temporary files'
    throw new OperationError('storage-full', `The disk of ${place} is full: the import keeps its work there.`, { cause })
  } finally {
    work.close()
  }
}

/**
 * Opens the file of an earlier run of the same import, or starts a new one. The work of another import, or of the same import from files that
 * have changed, is discarded.
 *
 * @throws {OperationError} `conflict` if another process works with the file; `parameter-value` if it is not the work of an import.
 */
export async function openWork({ work: file, progress }: WorkOptions, source: ImportSource): Promise<ImportWork> {
  if (file === undefined) return temporaryWork(progress)
  const description = await describeSource(source)
  const work = openFile(file, progress)
  const known = work.kept(SOURCE)
  if (known === description) {
    progress(`resuming the interrupted import of ${source.release}`)
    return work
  }
  if (known !== undefined) {
    progress(`${differenceBetween(known, description)}: the interrupted import is discarded, this one starts over`)
    // The file itself remains, because it keeps other processes out.
    dropTables(work.db)
  }
  work.keep(SOURCE, description)
  return work
}

const SOURCE = 'source'

function temporaryWork(progress: WorkOptions['progress']): ImportWork {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-import-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const db = new DatabaseSync(join(folder, 'work.db'))
  // The file is never opened again, so nothing has to survive a crash.
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF')
  const work = workIn(db, { progress, closed: remove, removed: remove })
  // A file that is unlinked while open is deleted with the process, however it ends. Windows does not support this.
  if (process.platform !== 'win32') remove()
  return work
}

function openFile(file: string, progress: WorkOptions['progress']): ImportWork {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file)
    return workIn(db, { progress, closed: () => undefined, removed: () => rmSync(file, { force: true }) })
  } catch (cause) {
    db?.close()
    if (isObject(cause) && cause['errcode'] === BUSY) throw new OperationError('conflict', `Another import is using ${file}.`, { cause })
    throw noWork(file, cause)
  }
}

function noWork(file: string, cause: unknown): OperationError {
  return new OperationError('parameter-value', `${file} is not the work file of an import; name another file with --work.`, { cause })
}

interface Host {
  readonly progress: (message: string) => void
  readonly closed: () => void
  readonly removed: () => void
}

function workIn(db: DatabaseSync, { progress, closed, removed }: Host): ImportWork {
  db.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -${CACHE_KIB}; BEGIN EXCLUSIVE`)
  prepareTables(db)
  const end = (then: () => void): void => {
    if (db.isOpen) db.close()
    then()
  }
  return {
    db,
    progress,
    kept(name) {
      const value = db.prepare('SELECT value FROM kept WHERE name = ?').get(name)?.['value']
      return typeof value === 'string' ? value : undefined
    },
    keep(name, value) {
      db.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?)').run(name, value)
      db.exec('COMMIT; BEGIN EXCLUSIVE')
    },
    close: () => end(closed),
    remove: () => end(removed),
  }
}

function dropTables(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  for (const { name } of tables) db.exec(`DROP TABLE "${String(name)}"`)
  prepareTables(db)
}

/** @throws {TypeError} if the file belongs to another application. */
function prepareTables(db: DatabaseSync): void {
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  if (isEmpty) db.exec(`PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL)`)
  else if (db.prepare('PRAGMA application_id').get()?.['application_id'] !== APPLICATION_ID)
    throw new TypeError('Not the work of an import.')
}

/** The input of an import. A run continues earlier work only if all of this is the same. */
export interface ImportSource {
  /** System and version, also shown to people. */
  readonly release: string
  /** Other options that affect the result. */
  readonly options?: readonly string[] | undefined
  /** Files that the import reads. */
  readonly files: readonly ReleaseFile[]
}

/** Describes a source by the content of its files, as a text to be saved. */
async function describeSource({ release, options = [], files }: ImportSource): Promise<string> {
  const marks: [string, string][] = []
  for (const file of files) marks.push([file.name, await file.mark()])
  return JSON.stringify({ program: version(), release, options: options.join(' '), files: Object.fromEntries(marks) })
}

/** Says how two described sources differ. */
function differenceBetween(before: string, now: string): string {
  const [a, b]: readonly unknown[] = [JSON.parse(before), JSON.parse(now)]
  if (!isObject(a) || !isObject(b)) return 'It was written by another version of the program'
  if (a['program'] !== b['program']) return `It was written by version ${stringAt(a, 'program')} of the program`
  if (a['release'] !== b['release']) return `It was for ${stringAt(a, 'release')}`
  if (a['options'] !== b['options']) return 'The options are different'
  const [old, current] = [new Map(Object.entries(objectAt(a, 'files') ?? {})), new Map(Object.entries(objectAt(b, 'files') ?? {}))]
  const changed = [...old.keys(), ...current.keys()].find((name) => old.get(name) !== current.get(name))
  return `The file ${changed} has changed`
}

/** The version of this package. */
function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return (isObject(manifest) ? stringAt(manifest, 'version') : undefined) ?? ''
}

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
