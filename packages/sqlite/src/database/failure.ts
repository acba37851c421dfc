import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'

interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

const UNAVAILABLE: Failure = { code: 'storage-unavailable', message: 'The database did not do what was asked of it.' }
const LOCKED: Failure = { code: 'storage-locked', message: 'The database is locked by another writer.' }
const DAMAGED: Failure = { code: 'storage-damaged', message: 'The database file is damaged or is not a database.' }
const UNOPENED: Failure = {
  code: 'storage-unavailable',
  message:
    'The database file cannot be opened: it or its folder does not exist, is read-only or may not be used, or too many files are open.',
}
const READ_ONLY: Failure = { code: 'storage-unavailable', message: 'The database may not be written: its file or its folder is read-only.' }
const UNLOCKABLE: Failure = {
  code: 'storage-unavailable',
  message: 'The database file cannot be locked: it is read-only, or its file system has no locks.',
}
const BROKEN: Failure = { code: 'storage-unavailable', message: 'The file system failed to read or write the database file.' }
const FULL: Failure = { code: 'storage-full', message: 'The disk of the database is full.' }

/** Primary result codes of SQLite that map to a particular error; https://sqlite.org/rescode.html */
const BY_NUMBER: ReadonlyMap<number, Failure> = new Map([
  [5, LOCKED],
  [6, LOCKED],
  [8, READ_ONLY],
  [10, BROKEN],
  [11, DAMAGED],
  [13, FULL],
  [14, UNOPENED],
  [26, DAMAGED],
])
/** Extended code SQLITE_IOERR_LOCK: a file that was opened read-only cannot be locked for writing. */
const IOERR_LOCK = 3850
/** Extended code SQLITE_IOERR_SHORT_READ. */
const IOERR_SHORT_READ = 522
const BY_NAME: readonly (readonly [string, Failure])[] = [
  ['SQLITE_BUSY', LOCKED],
  ['SQLITE_LOCKED', LOCKED],
  ['SQLITE_READONLY', READ_ONLY],
  ['SQLITE_IOERR_LOCK', UNLOCKABLE],
  ['SQLITE_IOERR', BROKEN],
  ['SQLITE_CORRUPT', DAMAGED],
  ['SQLITE_NOTADB', DAMAGED],
  ['SQLITE_FULL', FULL],
  ['SQLITE_CANTOPEN', UNOPENED],
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
  ['EROFS', READ_ONLY],
  ['EIO', BROKEN],
  ...['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'EMFILE', 'ENFILE'].map((code) => [code, UNOPENED] as const),
]

/** Converts an error of the driver to the error that callers get; an `OperationError` is returned unchanged. */
export function storageFailure(error: unknown): OperationError {
  if (error instanceof OperationError) return error
  const { code, message } = failureOf(error)
  return new OperationError(code, message, { cause: error })
}

/** True if the storage failed, as opposed to refusing a call: such an error says nothing about the call itself. */
export function isStorageFailure(error: OperationError): boolean {
  return error.code.startsWith('storage-')
}

/** True if SQLite found less in a file than it had written there. */
export function isShortRead(error: unknown): boolean {
  return error instanceof OperationError && isObject(error.cause) && error.cause['errcode'] === IOERR_SHORT_READ
}

/** Errors of node:sqlite have a number (`errcode`, extended), those of better-sqlite3 and of the file system a name (`code`; of SQLite: extended). */
function failureOf(error: unknown): Failure {
  if (!isObject(error)) return UNAVAILABLE
  const { errcode } = error
  if (errcode === IOERR_LOCK) return UNLOCKABLE
  if (typeof errcode === 'number') return BY_NUMBER.get(errcode & 0xff) ?? UNAVAILABLE
  const name = stringAt(error, 'code') ?? ''
  return BY_NAME.find(([prefix]) => name.startsWith(prefix))?.[1] ?? UNAVAILABLE
}
