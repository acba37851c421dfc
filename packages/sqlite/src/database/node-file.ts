import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { OperationError } from 'fhir-ops/errors'
import { checkArgument, type MemberKind } from 'fhir-ops/internal/input'
import { numberOf, sql, sqliteDriver, type SqliteDriver } from './driver.js'
import { isShortRead, storageFailure } from './failure.js'

/** Options for opening a database file; plain data, because they are sent to threads. */
export interface FileOptions {
  readonly file: string
  /** How long a call waits for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs: number
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Page cache of the writer's connection, in KiB. Default 16,384. */
  readonly writerCacheKib?: number
  /** The files that are in use; absent before. */
  readonly used?: KnownFiles | undefined
}

const PATH: MemberKind = {
  words: 'a text, and not empty; fileURLToPath of node:url makes a path of a URL',
  is: (value) => typeof value === 'string' && value !== '',
}

/**
 * Checks the path of a database. SQLite would make a file even of a name that means something else to another tool.
 *
 * @param place Names the function.
 * @throws {TypeError} for anything but the path of a file, or a URI (`file:...`).
 */
export function checkPath(place: string, file: string): void {
  checkArgument(`${place}: the path`, file, PATH)
  const problem = pathProblem(file)
  if (problem !== undefined) throw new TypeError(`${place} needs the path of a file; ${problem}`)
}

function pathProblem(file: string): string | undefined {
  if (file === ':memory:' || (file.startsWith('file:') && /^file::memory:|[?&]mode=memory/.test(file)))
    return 'for a database in memory pass a connection to sqliteStorage.'
  // A single letter is a drive of Windows.
  const [, scheme] = /^([a-z][a-z0-9+.-]+:)/i.exec(file) ?? []
  if (scheme === 'sqlite:') return `of '${file}', which is how options of the command are written, that is '${file.slice(scheme.length)}'.`
  if (scheme !== undefined && scheme !== 'file:') return `'${scheme}' is the scheme of a URL. A file of that name is './${file}'.`
  return /[/\\]$/.test(file) || isFolder(file) ? `'${file}' is a folder.` : undefined
}

function isFolder(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // Opening the file says why it cannot be used.
    return false
  }
}

/** Files as they were when they came into use. */
interface KnownFiles {
  readonly names: readonly string[]
  readonly identity: string
}

/** Identifies files, to distinguish them from later ones of the same names. */
function known(...names: readonly string[]): KnownFiles {
  const found = names.map((name) => statSync(name, { bigint: true, throwIfNoEntry: false }))
  return { names, identity: found.map((one) => (one === undefined ? 'none' : `${one.dev} ${one.ino}`)).join() }
}

/** Returns the path of the file of a connection. */
export function pathOf(db: SqliteDriver): string {
  // The table-valued form of the pragma would read the schema, and thus create the log.
  return String(db.all(sql`PRAGMA database_list`)[0]?.[2])
}

/**
 * Deletes an empty log. SQLite leaves one behind if only connections for reading have been open. Does nothing if another process uses it.
 *
 * @param file Path of the database.
 */
export function deleteEmptyLog(file: string): void {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size !== 0) return
  const address = pathToFileURL(file)
  // Otherwise a database that was moved away would be created anew.
  address.searchParams.set('mode', 'rw')
  try {
    const db = new DatabaseSync(address)
    try {
      db.exec('PRAGMA schema_version')
    } finally {
      // The last connection deletes the log if it may write.
      db.close()
    }
  } catch {
    // An empty log means nothing: whoever opens the file next uses it.
  }
}

/** A database, its log and the index of that, which lie beside the file itself if it was named by a link or as a URI; and the link. */
function filesOf(named: string, db: SqliteDriver): readonly string[] {
  const file = pathOf(db)
  const link = named === file || named.startsWith('file:') ? [] : [named]
  return [...link, file, `${file}-wal`, `${file}-shm`]
}

/** The files of an open database. */
interface FilesInUse {
  /**
   * States which files are in use. Only its first call reads, which creates the log, because that stays if only connections for reading have been opened.
   *
   * @throws {OperationError} `storage-unavailable` if the database was deleted or replaced meanwhile.
   */
  options(): FileOptions
  /** As `checkInPlace`, at most once a second: for calls that take less time than a look at the files. */
  checkOften(): void
  /** Deletes the log if it is empty, once every connection of this process is closed. */
  deleteEmptyLog(): void
}

const CHECK_EVERY_MS = 1_000

/** @param db A connection that stays open, so that SQLite does not delete the log. */
export function filesInUse(options: FileOptions, db: SqliteDriver): FilesInUse {
  const names = filesOf(options.file, db)
  const [path = '', log = ''] = names.slice(-3)
  const opened = known(...names.slice(0, -2))
  let used: FileOptions | undefined
  let checkedMs = Number.NEGATIVE_INFINITY
  const stated = (): FileOptions => {
    if (used !== undefined) return used
    checkInPlace({ ...options, used: opened })
    db.get(sql`PRAGMA schema_version`)
    used = { ...options, used: known(...names) }
    return used
  }
  return {
    options: stated,
    checkOften() {
      const now = performance.now()
      if (now - checkedMs < CHECK_EVERY_MS) return
      // Calls that do not read, such as for the revision, must not create the log either.
      checkInPlace(used !== undefined || existsSync(log) ? stated() : { ...options, used: opened })
      checkedMs = now
    },
    deleteEmptyLog: () => deleteEmptyLog(path),
  }
}

/**
 * @throws {OperationError} `storage-unavailable` if the database or its log is no longer the one that was opened. SQLite would continue to use the
 *   unlinked files, and everything written there would be lost; a new connection would even lose what only the log has.
 */
export function checkInPlace({ used }: FileOptions): void {
  if (used !== undefined && known(...used.names).identity !== used.identity) throw notInPlace()
}

function notInPlace(): OperationError {
  return new OperationError('storage-unavailable', 'The database file or its log was deleted or replaced while it was in use.')
}

/** Notices that the log of an open database is cut short: SQLite would continue after the gap, and nothing written there would be found again. */
export interface LogWatch {
  /** Call it before a write. @throws {OperationError} `storage-damaged` if the log lacks what was written to it. */
  check(): void
  /** Call it after a write. */
  note(): void
}

/** Bytes of the log before each page. */
const FRAME_HEADER_BYTES = 24

/** @param db A connection for writing. */
export function logWatch(db: SqliteDriver): LogWatch {
  const log = `${pathOf(db)}-wal`
  const bytes = (): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0
  let expected = bytes() || Number.POSITIVE_INFINITY
  // The size after the number: other processes write pages before they count, and first empty a log that they have moved into the file.
  const isCut = (): boolean => pagesInLog(db) * (FRAME_HEADER_BYTES + numberOf(db.get(sql`PRAGMA page_size`)?.[0])) > bytes()
  return {
    check() {
      if (bytes() >= expected) return
      // Asked again, because another process may empty the log between the number and the size.
      if (isCut() && isCut()) throw cutShort()
      expected = bytes()
    },
    note() {
      expected = bytes()
    },
  }
}

/** Number of pages that the log has according to SQLite. */
function pagesInLog(db: SqliteDriver): number {
  try {
    return numberOf(db.get(sql`PRAGMA wal_checkpoint(PASSIVE)`)?.[1])
  } catch (error) {
    throw isShortRead(error) ? cutShort() : error
  }
}

function cutShort(): OperationError {
  return new OperationError('storage-damaged', 'The log of the database was cut short while it was in use.')
}

/** Number of pages that collect in the log before they are moved to the file (128 MB): few enough moves for bulk loads, and still a fast restart. */
const CHECKPOINT_PAGES = 32_000
const WRITER_CACHE_KIB = 16_384
const SEARCH_CACHE_KIB = 32_768

/**
 * @param before SQL to run before the file is first accessed.
 * @throws {OperationError} `storage-damaged`, `storage-locked` or `storage-unavailable` if the file cannot be opened.
 */
export function openToWrite(options: FileOptions, before = ''): SqliteDriver {
  const { synchronous, writerCacheKib = WRITER_CACHE_KIB } = options
  const db = connected(options, { readOnly: false })
  try {
    db.exec(before)
    const mode = db.get(sql`PRAGMA journal_mode = WAL`)?.[0]
    if (mode !== 'wal') throw new OperationError('storage-unavailable', 'The file system of the database has no shared memory for its log.')
    db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${writerCacheKib}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Opens a file that no other process has open, and locks it until it is closed.
 *
 * @throws {OperationError} `storage-locked` immediately if another process has it open; otherwise as `openToWrite`.
 */
export function openAlone(options: FileOptions): SqliteDriver {
  return openToWrite({ ...options, busyTimeoutMs: 0 }, 'PRAGMA locking_mode = EXCLUSIVE')
}

/** The file must exist. @throws {OperationError} as `openToWrite`. */
export function openToRead(options: FileOptions): SqliteDriver {
  return connected(options, { readOnly: true })
}

/** As `openToRead`, with a larger page cache, for searches and counts that read much of the file. @throws {OperationError} as `openToWrite`. */
export function openToSearch(options: FileOptions): SqliteDriver {
  const db = openToRead(options)
  db.exec(`PRAGMA cache_size = -${SEARCH_CACHE_KIB}`)
  return db
}

function connected({ file, busyTimeoutMs }: FileOptions, { readOnly }: { readonly readOnly: boolean }): SqliteDriver {
  try {
    // SQLite treats a file of one byte as an empty database, and would overwrite it.
    if (statSync(file, { throwIfNoEntry: false })?.size === 1) throw new OperationError('storage-damaged', 'The file is not a database.')
    const db = new DatabaseSync(file, { readOnly })
    // The option `timeout` needs Node 22.16, and older ones ignore it.
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    return sqliteDriver(db)
  } catch (error) {
    throw storageFailure(error)
  }
}
