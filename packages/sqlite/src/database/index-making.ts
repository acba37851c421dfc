import type { Command } from '../commands/command.js'
import { textOf, type SqliteDriver } from './driver.js'
import { sql } from './sql.js'

/**
 * Drops the indexes of `entry` in a database without resources, and records in the database that they have to be created. Creating them later in one go,
 * in order, is faster than updating them with each entry (`npm run bench first-load`). Meanwhile changes are not logged, which the empty log shows. Runs
 * inside a transaction.
 *
 * @returns False, without changing anything, if there are resources.
 */
export function leaveOutIndexes(db: SqliteDriver): boolean {
  if (db.get(sql`SELECT 1 FROM resource LIMIT 1`) !== undefined) return false
  const made = db.all(sql`SELECT sql, type, name FROM sqlite_schema
    WHERE sql IS NOT NULL AND (type = 'index' AND tbl_name = 'entry' OR type = 'trigger' AND tbl_name = 'resource')`)
  for (const [text, kind, name] of made) {
    db.run(sql`INSERT INTO index_to_make (sql) VALUES (${textOf(text)})`)
    db.exec(`DROP ${textOf(kind)} ${textOf(name)}`)
  }
  db.run(sql`DELETE FROM change`)
  return true
}

/** True if indexes have yet to be created, after a first load that did not finish or that continues in another process. */
export function lacksIndexes(db: SqliteDriver): boolean {
  return db.get(sql`SELECT 1 FROM index_to_make LIMIT 1`) !== undefined
}

/** Creates the missing indexes; a helper thread assists in sorting. Runs inside a transaction. */
export function makeIndexes(db: SqliteDriver): void {
  db.exec('PRAGMA threads = 1')
  for (const [text] of db.all(sql`SELECT sql FROM index_to_make`)) db.exec(textOf(text))
  db.run(sql`DELETE FROM index_to_make`)
  db.run(sql`INSERT INTO change (resource, is_new) VALUES (0, 0)`)
}

/** Runs `makeIndexes` in the writer thread. */
export const makeIndexesLeftOut: Command<null, null> = {
  name: 'makeIndexes',
  lane: 'write',
  run(db) {
    makeIndexes(db)
    return null
  },
}
