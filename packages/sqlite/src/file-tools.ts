import * as sqlite from 'node:sqlite'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { OperationError } from 'fhir-ops/errors'
import { storageFailure } from './database/failure.js'
import { sql, sqliteDriver, textOf, type SqliteDriver } from './database/driver.js'
import { hasOwnTables } from './database/migrations.js'
import { checkPath, deleteEmptyLog, openToRead, pathOf } from './database/node-file.js'

const MAX_PAGES = 0x7fffffff

/**
 * Copies a database file to another file, while other processes may read and write it. The copy appears under its name only when it is complete,
 * and replaces an earlier copy.
 *
 * @throws {OperationError} `parameter-value` if both names are the same file, or if the copy would replace a file that is not a database of this adapter,
 *   or that has a log; `not-supported` on Node before 22.16; `storage-unavailable` if the file does not exist, `storage-damaged` if it is not a
 *   database, `storage-full`.
 */
export async function backupSqlite(file: string, copy: string): Promise<void> {
  for (const path of [file, copy]) checkPath('backupSqlite', path)
  if (await isSameFile(file, copy)) throw new OperationError('parameter-value', 'A database cannot be copied onto itself.')
  await checkReplaceable(copy)
  const part = `${copy}.part`
  try {
    await rm(part, { force: true })
    await copyTo(part, file)
    await rename(part, copy)
  } catch (error) {
    // SQLite leaves its journal behind if the disk is full.
    for (const left of [part, `${part}-journal`]) await rm(left, { force: true }).catch(() => undefined)
    throw storageFailure(error)
  }
}

async function copyTo(copy: string, file: string): Promise<void> {
  if (!('backup' in sqlite)) throw new OperationError('not-supported', 'Copying a database needs Node 22.16 or later.')
  const db = new sqlite.DatabaseSync(file, { readOnly: true })
  const path = pathOf(sqliteDriver(db))
  try {
    // Copies in one step, because a copy in several steps would restart after every write.
    await sqlite.backup(db, copy, { rate: MAX_PAGES })
  } finally {
    db.close()
    deleteEmptyLog(path)
  }
}

/** The log of a replaced database would be applied to the copy, which would damage it. */
async function checkReplaceable(copy: string): Promise<void> {
  if ((await sizeOf(copy)) > 0 && !isOwn(copy))
    throw new OperationError('parameter-value', `${copy} is not a database of this adapter, so it is not replaced: name another file.`)
  if ((await sizeOf(`${copy}-wal`)) > 0) {
    const text = `${copy} is not replaced, because it has a log (${copy}-wal): it is in use, or was not closed. Delete both, or name another file.`
    throw new OperationError('parameter-value', text)
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

/** True for a file with the tables of this adapter. */
function isOwn(file: string): boolean {
  const address = pathToFileURL(file)
  // Otherwise SQLite would leave a log beside the file.
  address.searchParams.set('immutable', '1')
  try {
    const db = new sqlite.DatabaseSync(address, { readOnly: true })
    try {
      return hasOwnTables(sqliteDriver(db))
    } finally {
      db.close()
    }
  } catch {
    return false
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [path, otherPath] = await Promise.all([one, other].map(async (file) => realpath(file).catch(() => undefined)))
  return path !== undefined && path === otherPath
}

/**
 * Checks a whole database file for damage, in the calling thread. Does not change the file.
 *
 * @returns One sentence for each problem found; empty if the file is intact.
 * @throws {OperationError} `storage-unavailable` if the file cannot be read.
 */
export function checkSqlite(file: string): readonly string[] {
  checkPath('checkSqlite', file)
  try {
    const db = openToRead({ file, busyTimeoutMs: 5_000, synchronous: 'FULL' })
    const path = pathOf(db)
    try {
      return damageIn(db)
    } finally {
      db.close()
      deleteEmptyLog(path)
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
