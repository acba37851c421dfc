import { resolve } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import { AMOUNT, checkOptions, inputShape, oneOf, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import { backupSqlite } from './file-tools.js'
import { closedError, revisionOf, type Executor } from './commands/command.js'
import { conceptStoreOn, sessionStoreOn, STORAGE_OPTIONS, storageOn, type SqliteStorageOptions } from './stores.js'
import { transaction, type SqliteDriver } from './database/driver.js'
import { leaveOutIndexes, makeIndexesLeftOut } from './database/index-making.js'
import { migrate } from './database/migrations.js'
import { identityOf, openAlone, openToRead, openToWrite, type FileOptions } from './database/node-file.js'
import { readerLanes } from './threads/reader-lanes.js'
import { workerLane } from './threads/worker-lane.js'

/** Options of `openSqlite`. */
export interface OpenSqliteOptions extends SqliteStorageOptions {
  /**
   * `FULL`, the default: an acknowledged write survives a power loss. `NORMAL` is faster; the last writes before a power loss may be
   * gone, though never half of one. Both survive the death of the process.
   */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** How long a call waits for another process that writes, then it fails with `storage-locked`. Default 5,000. */
  readonly busyTimeoutMs?: number
  /** How long a search or count may take, then it fails with `storage-timeout`. Default 5,000. */
  readonly searchTimeoutMs?: number
}

/** A database file with everything that is kept in it. */
export interface SqliteFile {
  readonly storage: Storage
  readonly sessions: SessionStore
  readonly concepts: ConceptStore
  /** Writes a copy of the database as it is now to another file, while everything continues. It appears under its name when it is whole. */
  backup(file: string): Promise<void>
  /** Finishes what was called before, moves the log into the file and ends the threads; the same as `storage.close`. */
  close(): Promise<void>
}

/**
 * Opens a database file, and creates it if it does not exist. Reads of one resource or session stay in the calling thread and take microseconds;
 * searches go to worker threads, writes with their flushes to another, where those that wait share a transaction. A write is acknowledged after its
 * commit. Other processes may use the file at the same time and see each other's writes at once.
 *
 * @throws {OperationError} `storage-damaged` when the file is damaged, no database or another application's; nothing in it is changed.
 * @throws {TypeError} for anything but the path of a file, and for an option that is unknown or of another type.
 */
export async function openSqlite(file: string, options: OpenSqliteOptions = {}): Promise<SqliteFile> {
  const task = fileOptions(file, options)
  return opened(fileExecutor(preparedFile(task), task, options), task, options)
}

/** The pages that batches change at once, so that none is written twice. */
const FILLING_CACHE_KIB = 65_536

/**
 * Opens a file like `openSqlite`, for a first load. When it holds no resource and no other process has it open, the indexes by search parameters are
 * made by `close`, of all resources at once, which is less work; if `close` is not reached, by the next process that opens the file. Until then this
 * one answers no search by a search parameter (`storage-unavailable`).
 *
 * @throws {OperationError} as `openSqlite`; `close` also `storage-full`, after which everything that was written is there.
 */
export async function openSqliteToFill(file: string, options: OpenSqliteOptions = {}): Promise<SqliteFile> {
  const task = { ...fileOptions(file, options), writerCacheKib: FILLING_CACHE_KIB }
  const points = preparedWithoutIndexes(task)
  const executor = fileExecutor(points ?? preparedFile(task), task, options)
  return opened(points === undefined ? executor : indexedByClose(executor), task, options)
}

const SHAPE: InputShape = inputShape<OpenSqliteOptions>({
  ...STORAGE_OPTIONS,
  synchronous: oneOf('FULL', 'NORMAL'),
  busyTimeoutMs: AMOUNT,
  searchTimeoutMs: AMOUNT,
})

function fileOptions(file: string, options: OpenSqliteOptions): FileOptions {
  if (typeof file !== 'string' || file === '' || file === ':memory:')
    throw new TypeError('openSqlite needs the path of a file; for a database in memory pass a connection to sqliteStorage.')
  checkOptions('openSqlite', SHAPE, options)
  const { synchronous = 'FULL', busyTimeoutMs = 5_000 } = options
  // Threads open it later, when the process may be in another folder.
  return { file: file.startsWith('file:') ? file : resolve(file), synchronous, busyTimeoutMs }
}

function opened(executor: Executor, { file }: FileOptions, options: OpenSqliteOptions): SqliteFile {
  const storage = storageOn(executor, options)
  return {
    storage,
    sessions: sessionStoreOn(executor),
    concepts: conceptStoreOn(executor),
    backup: async (target) => backupSqlite(file, target),
    close: async () => storage.close(),
  }
}

function indexedByClose(executor: Executor): Executor {
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    try {
      await executor.call(makeIndexesLeftOut, null)
    } finally {
      await executor.close()
    }
  }
  return { ...executor, close: async () => (closing ??= close()) }
}

/** An idle writer keeps some 50 MB of pages and of what it was sent, and nothing that the next write would miss; to start it again takes 60 ms. */
const WRITER_IDLE_MS = 10_000

/** @param points The connection of the calling thread. */
function fileExecutor(points: SqliteDriver, options: FileOptions, { searchTimeoutMs = 5_000 }: OpenSqliteOptions): Executor {
  const task = { ...options, identity: identityOf(options.file) }
  const writer = workerLane({ ...task, role: 'writer' }, { idleMs: WRITER_IDLE_MS })
  const reader = readerLanes(task, { timeoutMs: searchTimeoutMs })
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    await reader.close()
    // Last, so that its checkpoint finds no reader in its way.
    points.close()
    await writer.close()
  }
  const callNow: Executor['callNow'] = (command, args) => {
    if (closing !== undefined) throw closedError()
    return command.run(points, args)
  }
  return {
    async call(command, args) {
      if (closing !== undefined) throw closedError()
      if (command.lane === 'point') return command.run(points, args)
      return (command.lane === 'long' ? reader : writer).call(command, args)
    },
    callNow,
    revision: revisionOf(callNow),
    close: async () => (closing ??= closeAll()),
  }
}

/** Makes the file and migrates it to the newest schema, then opens it for the calling thread. */
function preparedFile(options: FileOptions): SqliteDriver {
  const db = openToWrite(options)
  try {
    migrate(db)
    return openToRead(options)
  } finally {
    db.close()
  }
}

/** The same with indexes left out; `undefined` when the file holds resources or others have it open, and nothing was done. */
function preparedWithoutIndexes(options: FileOptions): SqliteDriver | undefined {
  return leftOut(options) ? openToRead(options) : undefined
}

function leftOut(options: FileOptions): boolean {
  try {
    const db = openAlone(options)
    try {
      migrate(db)
      return transaction(db, () => leaveOutIndexes(db))
    } finally {
      db.close()
    }
  } catch (error) {
    if (error instanceof OperationError && error.code === 'storage-locked') return false
    throw error
  }
}
