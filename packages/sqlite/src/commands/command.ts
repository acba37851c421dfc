import { OperationError } from 'fhir-ops/errors'
import { numberOf, transaction, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'

/**
 * Where a command runs when the file is opened with worker threads: `point` reads a few rows in the calling thread, `long` reads in
 * a reader thread, `write` runs in the writer thread, together with others in one transaction.
 */
export type Lane = 'point' | 'long' | 'write'

/** One thing the database is asked to do. Unless the lane is `point`, arguments and results are plain data, as they cross to a thread. */
export interface Command<Args, Result> {
  readonly name: string
  readonly lane: Lane
  /** Runs inside a transaction when the lane is `write`. Method syntax, so that commands of all arguments fit one registry. */
  run(db: SqliteDriver, args: Args): Result
}

/** Runs commands somewhere. */
export interface Executor {
  call<Args, Result>(command: Command<Args, Result>, args: Args): Promise<Result>
  /** Runs a command of the lane `point` at once. */
  callNow<Args, Result>(command: Command<Args, Result>, args: Args): Result
  /** Rises with every change that this connection, or any other, made to the database. */
  readonly revision: () => number
  /** Finishes what was called before and releases everything; calling it again does nothing. */
  close(): Promise<void>
}

/** Runs commands at once in the calling thread, each write in a transaction of its own. */
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

/** What calls get after `close`. */
export function closedError(): OperationError {
  return new OperationError('storage-unavailable', 'The storage is closed.')
}

/** The state of the database as two numbers: one changes with the commits of other connections, the other with changes of this one. */
const readState: Command<null, readonly [others: number, own: number]> = {
  name: 'revision',
  lane: 'point',
  run(db) {
    const row = db.get(sql`SELECT data_version, total_changes() FROM pragma_data_version`)
    return [numberOf(row?.[0]), numberOf(row?.[1])]
  },
}

/**
 * Counts the changes of the database that were noticed.
 *
 * @param callNow Runs a command at once in one connection, always the same.
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
