import type { SqliteDriver } from '../database/driver.js'

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
