import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { OperationError } from 'fhir-ops/errors'
import { sqliteDriver, type SqliteDriver } from './driver.js'
import { storageFailure } from './failure.js'
import { sql } from './sql.js'

/** How a database file is opened; plain data, as it crosses to threads. */
export interface FileOptions {
  readonly file: string
  /** How long a call waits for a lock of another process. */
  readonly busyTimeoutMs: number
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Memory for pages of the connection that writes. Default 16,384. */
  readonly writerCacheKib?: number
  /** `identityOf` the file when it was opened first; absent before. */
  readonly identity?: string | undefined
}

/** What distinguishes a file from another of the same name; `undefined` when there is none. */
export function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}

/**
 * @throws {OperationError} `storage-unavailable` when the file is no longer the one that was opened. SQLite would continue in the one that has lost
 *   its name, and what is written there is lost.
 */
export function checkInPlace({ file, identity }: FileOptions): void {
  if (identity === undefined || identityOf(file) === identity) return
  throw new OperationError('storage-unavailable', 'The database file was deleted or replaced while it was in use.')
}

/** Pages that gather before they are moved from the log into the file (128 MB): rarely enough for bulk loads, often enough to restart fast. */
const CHECKPOINT_PAGES = 32_000
const WRITER_CACHE_KIB = 16_384
const SEARCH_CACHE_KIB = 32_768

/**
 * @param before SQL that runs before the file is first looked at.
 * @throws {OperationError} `storage-damaged`, `storage-locked` or `storage-unavailable` when the file cannot be opened.
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
 * @throws {OperationError} `storage-locked` at once when another process has it open, else as `openToWrite`.
 */
export function openAlone(options: FileOptions): SqliteDriver {
  return openToWrite({ ...options, busyTimeoutMs: 0 }, 'PRAGMA locking_mode = EXCLUSIVE')
}

/** The file must exist. @throws {OperationError} as `openToWrite`. */
export function openToRead(options: FileOptions): SqliteDriver {
  return connected(options, { readOnly: true })
}

/** The same with more pages in memory, for searches and counts over much of the file. @throws {OperationError} as `openToWrite`. */
export function openToSearch(options: FileOptions): SqliteDriver {
  const db = openToRead(options)
  db.exec(`PRAGMA cache_size = -${SEARCH_CACHE_KIB}`)
  return db
}

function connected({ file, busyTimeoutMs }: FileOptions, { readOnly }: { readonly readOnly: boolean }): SqliteDriver {
  try {
    // SQLite takes one byte for an empty database, and writes over it.
    if (statSync(file, { throwIfNoEntry: false })?.size === 1) throw new OperationError('storage-damaged', 'The file is not a database.')
    return sqliteDriver(new DatabaseSync(file, { readOnly, timeout: busyTimeoutMs }))
  } catch (error) {
    throw storageFailure(error)
  }
}
