import { hasBit, type Bits } from 'fhir-ops/internal/bits'
import type { SqliteConnection, SqliteValue } from './connection.js'

/** What the functions work with while a statement runs. One thread runs one statement at a time, over whatever connection. */
const running: { visit: ((a: number, b: number) => void) | undefined; members: Bits | undefined } = { visit: undefined, members: undefined }

/**
 * Adds the functions that statements call: `visit(a, b)` hands two numbers out, `is_member(key)` asks a set. Several stores over one connection add
 * them each, and the last counts for all.
 */
export function addFunctions(connection: SqliteConnection): void {
  connection.function('visit', (a?: SqliteValue, b?: SqliteValue) => {
    if (running.visit === undefined || typeof a !== 'number' || typeof b !== 'number') throw new TypeError('Nobody waits for these rows.')
    running.visit(a, b)
    return 0
  })
  connection.function('is_member', (key?: SqliteValue) => {
    if (running.members === undefined || typeof key !== 'number') throw new TypeError('There is no set to ask.')
    return hasBit(running.members, key) ? 1 : 0
  })
}

/** Runs a statement that calls `visit`. */
export function visiting(visit: (a: number, b: number) => void, run: () => void): void {
  running.visit = visit
  try {
    run()
  } finally {
    running.visit = undefined
  }
}

/** Does reads that ask `is_member` of this set. */
export function asking<T>(members: Bits, read: () => T): T {
  running.members = members
  try {
    return read()
  } finally {
    running.members = undefined
  }
}
