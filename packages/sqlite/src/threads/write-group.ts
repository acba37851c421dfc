import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { COMMANDS } from '../commands/registry.js'
import { transaction, type SqliteDriver } from '../database/driver.js'
import { isStorageFailure, storageFailure } from '../database/failure.js'
import type { FileOptions } from '../database/node-file.js'

/** A command that was sent to a thread. */
export interface Call {
  /** Chosen by the sender, repeated in the answer. */
  readonly id: number
  readonly command: string
  readonly args: unknown
  /** Of a read; none when absent. */
  readonly limit?: TimeLimit | undefined
}

/** How long a read may take. */
export interface TimeLimit {
  /** From its beginning. */
  readonly ms: number
  /** On the clock of `monotonicMs`, which threads share: it may have waited for others. */
  readonly until: number
}

/** Milliseconds that pass at the same pace in all threads, whatever becomes of the time of day. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** What became of a call. Errors cross threads as their parts. */
export type Answer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly code: ErrorCode; readonly message: string; readonly cause: string }

/**
 * Runs writes in one transaction, so that they share one flush. Each keeps its own fate: what is refused leaves the others alone. When
 * the storage fails under one of them, each is tried again in a transaction of its own; a failed commit is never tried again.
 */
export function runGroup(db: SqliteDriver, calls: readonly Call[]): readonly Answer[] {
  try {
    db.exec('BEGIN IMMEDIATE')
  } catch (error) {
    return calls.map((call) => failed(call, error))
  }
  const answers = answersWithin(db, calls)
  if (answers !== undefined) return committed(db, calls, answers)
  db.rollBack()
  return calls.map((call) => runAlone(db, call))
}

/** Runs a read within its time. */
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

/** `undefined` when the storage failed. */
function answersWithin(db: SqliteDriver, calls: readonly Call[]): readonly Answer[] | undefined {
  try {
    return answersAtOnce(db, calls) ?? calls.map((call) => withinSavepoint(db, call))
  } catch {
    return undefined
  }
}

/** Without savepoints, as each copies every page that is changed within it; `undefined`, and nothing done, when a call is refused. */
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

function committed(db: SqliteDriver, calls: readonly Call[], answers: readonly Answer[]): readonly Answer[] {
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

/** The answer to a call that failed. */
export function failed({ id }: Call, error: unknown): Answer {
  const { code, message, cause } = storageFailure(error)
  return { id, code, message, cause: cause instanceof Error ? cause.message : '' }
}

/** What a thread is started with. */
export interface WorkerTask extends FileOptions {
  readonly role: 'writer' | 'reader'
}

/** What it gets: calls, answered in order by lists of `Answer`, and at the end one word: whether the file is closed, or the thread just ends. */
export type ToWorker = Call | 'close' | 'leave'
