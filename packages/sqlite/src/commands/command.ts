import { OperationError } from 'fhir-ops/errors'
import { numberOf, sql, transaction, type SqliteDriver } from '../database/driver.js'

/**
 * Where a command runs if the file is opened with worker threads. `point` reads a few rows in the calling thread, `long` reads in
 * a reader thread, `scan` reads a page of a whole population in a thread that only scans use, `write` runs in the writer thread, in one transaction with
 * other writes.
 */
export type Lane = 'point' | 'long' | 'scan' | 'write'

/** A task for the database. Unless the lane is `point`, arguments and results are plain data, because they are sent between threads. */
export interface Command<Args, Result> {
  readonly name: string
  readonly lane: Lane
  /** Runs the command, in a transaction if the lane is `write`. Method syntax, so that commands with different arguments fit one registry. */
  run(db: SqliteDriver, args: Args): Result
}

/** Runs commands, in this or another thread. */
export interface Executor {
  call<Args, Result>(command: Command<Args, Result>, args: Args): Promise<Result>
  /** Runs a command of the lane `point` synchronously. */
  callNow<Args, Result>(command: Command<Args, Result>, args: Args): Result
  /** Increases with every change of the database, by this connection or any other. */
  readonly revision: () => number
  /** Finishes earlier calls and releases everything; calling it again does nothing. */
  close(): Promise<void>
}

/** Runs commands immediately in the calling thread, each write in its own transaction. */
export function inThread(db: SqliteDriver): Executor {
  let open = true
  const callNow: Executor['callNow'] = (command, args) => {
    if (!open) throw closedError()
    return command.run(db, args)
  }
  return {
    async call(command, args) {
      if (!open) throw closedError()
      return command.lane === 'write' ? transaction(db, () => command.run(db, args)) : command.run(db, args)
    },
    callNow,
    revision: revisionOf(callNow),
    async close() {
      if (open) db.close()
      open = false
    },
  }
}

/** The error for calls after `close`. */
export function closedError(): OperationError {
  return new OperationError('storage-unavailable', 'The storage is closed.')
}

/** The state of the database as two numbers: the first changes with commits of other connections, the second with changes by this one. */
const readState: Command<null, readonly [others: number, own: number]> = {
  name: 'revision',
  lane: 'point',
  run(db) {
    const row = db.get(sql`SELECT data_version, total_changes() FROM pragma_data_version`)
    return [numberOf(row?.[0]), numberOf(row?.[1])]
  },
}

/**
 * Returns a function that counts the observed changes of the database.
 *
 * @param callNow Runs a command synchronously, always in the same connection.
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function revisionOf(callNow: <Args, Result>(command: Command<Args, Result>, args: Args) => Result): () => number {
  let [lastOthers, lastOwn] = [-1, -1]
  let changes = 0
  return () => {
    const [others, own] = callNow(readState, null)
    if (others !== lastOthers || own !== lastOwn) changes++
    ;[lastOthers, lastOwn] = [others, own]
    return changes
  }
}
