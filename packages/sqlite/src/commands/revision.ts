import type { Command } from './command.js'
import { numberOf } from '../database/driver.js'
import { sql } from '../database/sql.js'

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
