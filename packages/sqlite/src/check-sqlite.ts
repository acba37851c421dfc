import { OperationError } from 'fhir-ops/errors'
import { textOf, type SqliteDriver } from './database/driver.js'
import { openToRead } from './database/node-file.js'
import { sql } from './database/sql.js'

/**
 * Looks through a whole database file for damage, in the calling thread; nothing is changed.
 *
 * @returns One sentence for each damage found; none when the file is whole.
 * @throws {OperationError} `storage-unavailable` when the file cannot be read.
 */
export function checkSqlite(file: string): readonly string[] {
  try {
    const db = openToRead({ file, busyTimeoutMs: 5_000, synchronous: 'FULL' })
    try {
      return damageIn(db)
    } finally {
      db.close()
    }
  } catch (error) {
    if (error instanceof OperationError && error.code === 'storage-damaged') return [error.message]
    throw error
  }
}

function damageIn(db: SqliteDriver): readonly string[] {
  const found = db.all(sql`PRAGMA integrity_check`).map(([message]) => textOf(message))
  return found.length === 1 && found[0] === 'ok' ? [] : found
}
