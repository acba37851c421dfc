import { rename, rm } from 'node:fs/promises'
import { DatabaseSync, backup } from 'node:sqlite'
import { storageFailure } from './failure.js'

const MAX_PAGES = 0x7fffffff

/**
 * Copies a database file as it is now to another file, while other processes read and write it. The copy appears under its name when it
 * is whole, in the place of a file that was there.
 *
 * @throws {OperationError} `storage-unavailable` when there is no such file, `storage-damaged` when it is no database, `storage-full`.
 */
export async function backupSqlite(file: string, copy: string): Promise<void> {
  const part = `${copy}.part`
  try {
    await rm(part, { force: true })
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      // In one step: a copy in several would begin anew after every write.
      await backup(db, part, { rate: MAX_PAGES })
    } finally {
      db.close()
    }
    await rename(part, copy)
  } catch (error) {
    throw storageFailure(error)
  }
}
