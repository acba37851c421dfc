import type { SqliteDriver } from '../database/driver.js'
import { createKeptSets, type KeptSets } from './kept-sets.js'

const SETS = new WeakMap<SqliteDriver, KeptSets>()

/** What is kept for searches over a connection. */
export function setsOf(db: SqliteDriver): KeptSets {
  const sets = SETS.get(db) ?? createKeptSets()
  SETS.set(db, sets)
  return sets
}

/** Goes on with what one connection kept, as it is replaced by another to the same file. */
export function handOverSets(from: SqliteDriver, to: SqliteDriver): void {
  SETS.set(to, setsOf(from))
}
