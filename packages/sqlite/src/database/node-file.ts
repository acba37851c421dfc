import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperationError } from 'fhir-ops/errors'
import { sqliteDriver, type SqliteDriver } from './driver.js'
import { storageFailure } from './failure.js'
import { sql } from './connection.js'

/** Options for opening a database file; plain data, because they are sent to threads. */
export interface FileOptions {
  readonly file: string
  /** How long a call waits for a lock of another process, in milliseconds. */
  readonly busyTimeoutMs: number
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Page cache of the writer's connection, in KiB. Default 16,384. */
  readonly writerCacheKib?: number
  /** `identityOf` the files that are in use; absent before. */
  readonly identity?: string | undefined
}

/** Identifies files, to distinguish them from later ones of the same names. */
function identityOf(...files: readonly string[]): string {
  const found = files.map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
  return found.map((one) => (one === undefined ? 'none' : `${one.dev} ${one.ino}`)).join()
}

/** A database, its log and the index of that. */
function filesOf(file: string): readonly string[] {
  return [file, `${file}-wal`, `${file}-shm`]
}

/**
 * Returns a function that states which files are in use. Only its first call reads, which creates the log, because that stays if only connections for
 * reading have been opened.
 *
 * @param db A connection that stays open, so that SQLite does not delete the log.
 * @throws {OperationError} `storage-unavailable`, from the function, if the database was deleted or replaced meanwhile.
 */
export function inUse(options: FileOptions, db: SqliteDriver): () => FileOptions {
  const opened = identityOf(options.file)
  let used: FileOptions | undefined
  return () => {
    if (used !== undefined) return used
    if (identityOf(options.file) !== opened) throw notInPlace()
    db.get(sql`PRAGMA schema_version`)
    used = { ...options, identity: identityOf(...filesOf(options.file)) }
    return used
  }
}

/**
 * @throws {OperationError} `storage-unavailable` if the database or its log is no longer the one that was opened. SQLite would continue to use the
 *   unlinked files, and everything written there would be lost; a new connection would even lose what only the log has.
 */
export function checkInPlace({ file, identity }: FileOptions): void {
  if (identity !== undefined && identityOf(...filesOf(file)) !== identity) throw notInPlace()
}

function notInPlace(): OperationError {
  return new OperationError('storage-unavailable', 'The database file or its log was deleted or replaced while it was in use.')
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
    return sqliteDriver(new DatabaseSync(file, { readOnly, timeout: busyTimeoutMs }))
  } catch (error) {
    throw storageFailure(error)
  }
}
