import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OperationError } from 'fhir-ops/errors'
import { AMOUNT, checkOptions, inputShape, oneOf, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import { backupSqlite } from './file-tools.js'
import { closedError, revisionOf, type Executor } from './commands/command.js'
import { conceptStoreOn, sessionStoreOn, STORAGE_OPTIONS, storageOn, type SqliteStorageOptions } from './stores.js'
import { transaction, type SqliteDriver } from './database/driver.js'
import { leaveOutIndexes, makeIndexesLeftOut, migrate } from './database/migrations.js'
import { checkInPlace, checkPath, filesInUse, openAlone, openToRead, openToWrite, type FileOptions } from './database/node-file.js'
import { readerLanes, workerLane, type WorkerLane } from './threads/lanes.js'

/** Options of `openSqlite`. */
export interface OpenSqliteOptions extends SqliteStorageOptions {
  /**
   * With `FULL`, an acknowledged write survives a power loss. `NORMAL` is faster; the last writes before a power loss may be lost, though
   * never partially. With both, writes survive a crash of the process. Default `FULL`.
   */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /** How long a call waits for another process that writes, in milliseconds, before it fails with `storage-locked`. Default 5,000. */
  readonly busyTimeoutMs?: number
  /** How long a search or count may take, in milliseconds, before it fails with `storage-timeout`. Default 5,000. */
  readonly searchTimeoutMs?: number
}

/** An open database file, with all its stores. */
export interface SqliteFile {
  /** Resources with their history. */
  readonly storage: Storage
  /** Users and sessions. */
  readonly sessions: SessionStore
  /** Imported code systems. */
  readonly concepts: ConceptStore
  /** Copies the current state of the database to another file, while everything continues. The copy appears under its name when it is complete. */
  backup(file: string): Promise<void>
  /** Finishes earlier calls, moves the log into the file and ends the threads; the same as `storage.close`. */
  close(): Promise<void>
}

/**
 * Opens a database file, and creates it if it does not exist. Reads of a single resource or session run in the calling thread and take microseconds;
 * searches run in worker threads, writes and their flushes in another one, where waiting writes share a transaction. A write is acknowledged after its
 * commit. Other processes may use the file at the same time and see each other's writes immediately.
 *
 * @throws {OperationError} `storage-damaged` if the file is damaged, not a database, or of another application; it is not changed. `storage-unavailable`
 *   if it cannot be opened, or if the process may not start threads (`node --permission`). The `cause` names the file.
 * @throws {TypeError} for anything but a file path, and for an option that is unknown or of another type.
 */
export async function openSqlite(file: string, options: OpenSqliteOptions = {}): Promise<SqliteFile> {
  const task = fileOptions(file, options)
  const points = opened(file, () => preparedFile(task))
  return openFile(fileExecutor(points, task, options), options)
}

/** Page cache for a first load, in KiB: large enough for the pages that a batch changes, so that no page is written twice. */
const FILLING_CACHE_KIB = 65_536

/**
 * Opens a file like `openSqlite`, for a first load. If it has no resources and no other process has it open, the indexes on search parameters are
 * created by `close`, for all resources at once, which is less work; or, if `close` is not reached, by the next process that opens the file. Until then,
 * searches by search parameters fail in this process (`storage-unavailable`).
 *
 * @throws {OperationError} as `openSqlite`; `close` also `storage-full`, after which everything that was written is still there.
 */
export async function openSqliteToFill(file: string, options: OpenSqliteOptions = {}): Promise<SqliteFile> {
  const task = { ...fileOptions(file, options), writerCacheKib: FILLING_CACHE_KIB }
  const withoutIndexes = opened(file, () => preparedWithoutIndexes(task))
  const executor = fileExecutor(withoutIndexes ?? opened(file, () => preparedFile(task)), task, options)
  return openFile(withoutIndexes === undefined ? executor : indexedByClose(executor), options)
}

/** Opens a file, and names it in the cause of an error. Messages do not, because they also reach callers over HTTP. */
function opened<T>(file: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    const { code, message, cause } = error
    throw new OperationError(code, message, { cause: new Error(`${file} was not opened.`, { cause }) })
  }
}

const SHAPE: InputShape = inputShape<OpenSqliteOptions>({
  ...STORAGE_OPTIONS,
  synchronous: oneOf('FULL', 'NORMAL'),
  busyTimeoutMs: AMOUNT,
  searchTimeoutMs: AMOUNT,
})

function fileOptions(file: string, options: OpenSqliteOptions): FileOptions {
  checkPath('openSqlite', file)
  checkOptions('openSqlite', SHAPE, options)
  if (process.permission?.has('worker') === false)
    throw new OperationError(
      'storage-unavailable',
      'A database file is searched and written in threads, which this process may not start (node --allow-worker permits it).',
    )
  const { synchronous = 'FULL', busyTimeoutMs = 5_000 } = options
  return { file: absoluteFile(file), synchronous, busyTimeoutMs }
}

/** Threads open the file later, when the process may have changed its working directory. @see https://www.sqlite.org/uri.html */
function absoluteFile(file: string): string {
  if (!file.startsWith('file:')) return resolve(file)
  const path = file.slice('file:'.length)
  if (path === '' || /^[/?:]/.test(path)) return file
  return `file:${pathToFileURL('.').pathname.replace(/\/$/, '')}/${path}`
}

/** What carries out the commands of a file. */
interface FileExecutor extends Executor {
  backup(target: string): Promise<void>
}

function openFile(executor: FileExecutor, options: OpenSqliteOptions): SqliteFile {
  const storage = storageOn(executor, options)
  return {
    storage,
    sessions: sessionStoreOn(executor),
    concepts: conceptStoreOn(executor),
    backup: (target) => executor.backup(target),
    close: async () => storage.close(),
  }
}

function indexedByClose(executor: FileExecutor): FileExecutor {
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

/** An idle writer holds about 50 MB of pages and received data, which the next write does not need; restarting it takes 60 ms. */
const WRITER_IDLE_MS = 10_000

/** The threads of a file. */
interface Threads {
  readonly writer: WorkerLane
  readonly reader: WorkerLane
}

function threadsFor(task: FileOptions, searchTimeoutMs: number): Threads {
  return {
    writer: workerLane({ ...task, role: 'writer' }, { idleMs: WRITER_IDLE_MS }),
    reader: readerLanes(task, { timeoutMs: searchTimeoutMs }),
  }
}

/** @param points The connection of the calling thread. */
function fileExecutor(points: SqliteDriver, options: FileOptions, { searchTimeoutMs = 5_000 }: OpenSqliteOptions): FileExecutor {
  const files = filesInUse(options, points)
  let made: Threads | undefined
  const threads = (): Threads => (made ??= threadsFor(files.options(), searchTimeoutMs))
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    await made?.reader.close()
    // Closed last, so that no reader blocks its checkpoint.
    points.close()
    await made?.writer.close()
    files.deleteEmptyLog()
  }
  const callNow: Executor['callNow'] = (command, args) => {
    if (closing !== undefined) throw closedError()
    files.checkOften()
    return command.run(points, args)
  }
  return {
    async call(command, args) {
      if (command.lane === 'point') return callNow(command, args)
      if (closing !== undefined) throw closedError()
      return (command.lane === 'write' ? threads().writer : threads().reader).call(command, args)
    },
    async backup(target) {
      checkInPlace(files.options())
      return backupSqlite(options.file, target)
    },
    callNow,
    revision: revisionOf(callNow),
    close: async () => (closing ??= closeAll()),
  }
}

/** Creates the file and migrates it to the newest schema, then opens it for the calling thread. */
function preparedFile(options: FileOptions): SqliteDriver {
  const db = openToWrite(options)
  try {
    migrate(db)
    return openToRead(options)
  } finally {
    db.close()
  }
}

/** As `preparedFile`, without indexes; does nothing and returns `undefined` if the file has resources or is open elsewhere. */
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
