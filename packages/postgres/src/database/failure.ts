import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'

interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

const UNAVAILABLE: Failure = { code: 'storage-unavailable', message: 'The database reported an error that this adapter does not know.' }
const UNREACHED: Failure = { code: 'storage-unavailable', message: 'The database cannot be reached.' }
const LOST: Failure = { code: 'storage-unavailable', message: 'The connection to the database was lost.' }
const NOT_ADMITTED: Failure = { code: 'storage-unavailable', message: 'The database does not admit this user, or does not exist.' }
const NO_PASSWORD: Failure = { code: 'storage-unavailable', message: 'The database asks for a password, and none was given.' }
const READ_ONLY: Failure = { code: 'storage-unavailable', message: 'The database accepts no writes at present: it is read-only.' }
const NO_CONNECTION: Failure = { code: 'storage-unavailable', message: 'The database has no connection left.' }
const NO_RIGHTS: Failure = { code: 'storage-unavailable', message: 'The user of the database lacks rights in it.' }
const NO_SCHEMA: Failure = { code: 'storage-unavailable', message: 'The database has no schema of those that its search_path names.' }
const TIMEOUT: Failure = { code: 'storage-timeout', message: 'The database took too long.' }
const LOCKED: Failure = { code: 'storage-locked', message: 'The database is busy with other writers of the same resources.' }
const DAMAGED: Failure = { code: 'storage-damaged', message: 'The database is damaged or lacks tables of this adapter.' }
const FULL: Failure = { code: 'storage-full', message: 'The disk of the database is full.' }

/** SQLSTATE codes, and codes of the operating system, that map to a particular error; https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_CODE: ReadonlyMap<string, Failure> = new Map([
  ['08006', LOST],
  ['23505', LOCKED],
  ['25006', READ_ONLY],
  ['25P03', TIMEOUT],
  ['28000', NOT_ADMITTED],
  ['28P01', NOT_ADMITTED],
  ['3D000', NOT_ADMITTED],
  ['3F000', NO_SCHEMA],
  ['40001', LOCKED],
  ['40P01', LOCKED],
  ['42501', NO_RIGHTS],
  ['42703', DAMAGED],
  ['42P01', DAMAGED],
  ['53100', FULL],
  ['53300', NO_CONNECTION],
  ['55P03', LOCKED],
  ['57014', TIMEOUT],
  ['57P01', LOST],
  ['57P02', LOST],
  ['57P03', UNREACHED],
  ['57P04', LOST],
  ['EACCES', UNREACHED],
  ['EAI_AGAIN', UNREACHED],
  ['ECONNREFUSED', UNREACHED],
  ['ECONNRESET', LOST],
  ['EHOSTUNREACH', UNREACHED],
  ['ENETUNREACH', UNREACHED],
  ['ENOENT', UNREACHED],
  ['ENOTFOUND', UNREACHED],
  ['EPIPE', LOST],
  ['ETIMEDOUT', TIMEOUT],
  ['XX001', DAMAGED],
  ['XX002', DAMAGED],
])

/** Errors that `pg` raises itself, which have no codes. */
const BY_MESSAGE: ReadonlyMap<string, Failure> = new Map([
  ['Query read timeout', TIMEOUT],
  ['timeout exceeded when trying to connect', TIMEOUT],
  ['Connection terminated due to connection timeout', TIMEOUT],
  ['Connection terminated unexpectedly', LOST],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', NO_PASSWORD],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string', NO_PASSWORD],
])

/** Converts an error of the driver to the error that callers get; an `OperationError` is returned unchanged. */
export function storageFailure(error: unknown): OperationError {
  if (error instanceof OperationError) return error
  const { code, message } = failureOf(error)
  return new OperationError(code, message, { cause: error })
}

/**
 * True if the server has rolled back the transaction because of another one, so that it may be tried again: after a serialization failure, a deadlock, or
 * a row or table that the other one created first. A lost connection does not count, because its outcome is unknown.
 */
export function wasOvertaken(error: unknown): boolean {
  return OVERTAKEN.has(codeOf(error) ?? '')
}

/** True if a lock was not available within `lock_timeout`, given the server's error or the converted one. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === '55P03'
}

/** True if the engine does not support the statement: its kind, a column, a function, a type or a language. */
export function isUnsupported(error: unknown): boolean {
  return UNSUPPORTED.has(stateOf(error) ?? '')
}

const UNSUPPORTED: ReadonlySet<string> = new Set(['0A000', '42601', '42703', '42704', '42883'])

function stateOf(error: unknown): string | undefined {
  return codeOf(error instanceof OperationError ? error.cause : error)
}

/** True if the connection is still usable. Errors not sent by the server leave it in an unknown state, and after some of the server's errors it is closed. */
export function connectionSurvives(error: unknown): boolean {
  return error instanceof OperationError || SQLSTATE.test(codeOf(error) ?? '')
}

const OVERTAKEN: ReadonlySet<string> = new Set(['23505', '40001', '40P01', '42710', '42P07'])

/**
 * SQLSTATE codes after which a connection survives. Class 08 is about lost connections; the server closes the connection after 57P01 to 57P05 (shutdown,
 * crash, startup, dropped database, idle session) and 25P03 to 25P04 (idle or long transactions). Node's codes (`EPIPE`) have the same length, but no
 * digit.
 */
const SQLSTATE = /^(?!08|57P|25P0[34])(?=[A-Z]*[0-9])[0-9A-Z]{5}$/

function failureOf(error: unknown): Failure {
  const byMessage = error instanceof Error ? BY_MESSAGE.get(error.message) : undefined
  return BY_CODE.get(codeOf(error) ?? '') ?? byMessage ?? UNAVAILABLE
}

function codeOf(error: unknown): string | undefined {
  return isObject(error) ? stringAt(error, 'code') : undefined
}
