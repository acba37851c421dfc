import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { COMMANDS } from '../commands/registry.js'
import { transaction, type SqliteDriver } from '../database/driver.js'
import { isStorageFailure, storageFailure } from '../database/failure.js'
import type { FileOptions } from '../database/node-file.js'

/** A command sent to a thread. */
export interface Call {
  /** Chosen by the sender and repeated in the answer. */
  readonly id: number
  readonly command: string
  readonly args: unknown
  /** Time limit of a read; none if absent. */
  readonly limit?: TimeLimit | undefined
}

/** Time limit of a read. */
export interface TimeLimit {
  /** Milliseconds from its start. */
  readonly ms: number
  /** Deadline on the clock of `monotonicMs`, which threads share; it includes the time in the queue. */
  readonly until: number
}

/** Milliseconds of a clock that all threads share, independent of changes of the system time. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** The outcome of a call. Errors are sent between threads as their parts. */
export type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly code: ErrorCode; readonly message: string; readonly cause: string }

/**
 * Runs writes in one transaction, so that they share a flush. Each has its own outcome: if one is refused, the others are not affected. If
 * the storage fails during one of them, each is tried again in its own transaction; a failed commit is never tried again.
 */
export function runGroup(db: SqliteDriver, calls: readonly Call[]): readonly Answer[] {
  try {
    db.exec('BEGIN IMMEDIATE')
  } catch (error) {
    return calls.map((call) => failed(call, error))
  }
  const answers = answersWithin(db, calls)
  if (answers !== undefined) return commitCalls(db, calls, answers)
  db.rollBack()
  return calls.map((call) => runAlone(db, call))
}

/** Runs a read within its time limit. */
export function runRead(db: SqliteDriver, call: Call): Answer {
  const { ms, until } = call.limit ?? UNLIMITED
  try {
    return { id: call.id, result: db.limited(Math.min(ms, until - monotonicMs()), () => resultOf(db, call)) }
  } catch (error) {
    return failed(call, error)
  }
}

const UNLIMITED: TimeLimit = { ms: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }

function runAlone(db: SqliteDriver, call: Call): Answer {
  try {
    return { id: call.id, result: transaction(db, () => resultOf(db, call)) }
  } catch (error) {
    return failed(call, error)
  }
}

/** Returns `undefined` if the storage failed. */
function answersWithin(db: SqliteDriver, calls: readonly Call[]): readonly Answer[] | undefined {
  try {
    return answersAtOnce(db, calls) ?? calls.map((call) => withinSavepoint(db, call))
  } catch {
    return undefined
  }
}

/** Runs calls without savepoints, which copy every page that changes within them; if a call is refused, rolls back and returns `undefined`. */
function answersAtOnce(db: SqliteDriver, calls: readonly Call[]): readonly Answer[] | undefined {
  try {
    return calls.map((call) => ({ id: call.id, result: resultOf(db, call) }))
  } catch (error) {
    if (!isRefusal(error)) throw error
    db.exec('ROLLBACK; BEGIN IMMEDIATE')
    return undefined
  }
}

function withinSavepoint(db: SqliteDriver, call: Call): Answer {
  db.exec('SAVEPOINT one')
  try {
    const answer = { id: call.id, result: resultOf(db, call) }
    db.exec('RELEASE one')
    return answer
  } catch (error) {
    if (!isRefusal(error)) throw error
    db.exec('ROLLBACK TO one; RELEASE one')
    return failed(call, error)
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof OperationError && !isStorageFailure(error)
}

function commitCalls(db: SqliteDriver, calls: readonly Call[], answers: readonly Answer[]): readonly Answer[] {
  try {
    db.exec('COMMIT')
    return answers
  } catch (error) {
    db.rollBack()
    return calls.map((call) => failed(call, error))
  }
}

function resultOf(db: SqliteDriver, { command, args }: Call): unknown {
  const known = COMMANDS.get(command)
  if (known === undefined) throw new TypeError(`There is no command ${command}.`)
  return known.run(db, args)
}

/** Returns the answer to a failed call. */
export function failed({ id }: Call, error: unknown): Answer {
  const { code, message, cause } = storageFailure(error)
  return { id, code, message, cause: cause instanceof Error ? cause.message : '' }
}

/** Data with which a thread is started. */
export interface WorkerTask extends FileOptions {
  readonly role: 'writer' | 'reader'
}

/** Messages to a thread: calls, answered in order by lists of `Answer`; at the end, `close` to close the file, or `leave` to only end the thread. */
export type ToWorker = Call | 'close' | 'leave'
