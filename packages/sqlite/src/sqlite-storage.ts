import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import type { SqliteConnection } from './database/connection.js'
import { conceptStoreOn, sessionStoreOn, STORAGE_OPTIONS, storageOn, type SqliteStorageOptions } from './stores.js'
import { sqliteDriver, type SqliteDriver } from './database/driver.js'
import { inThread } from './commands/command.js'
import { migrate } from './database/migrations.js'

const SHAPE: InputShape = inputShape<SqliteStorageOptions>(STORAGE_OPTIONS)

/**
 * Keeps resources in a SQLite database over the caller's own connection (`node:sqlite` or better-sqlite3). Every call runs at once in the calling
 * thread and blocks it, a write for as long as its flush takes; servers are better served by `openSqlite`. How durable writes are is what the
 * connection's `journal_mode` and `synchronous` say. The connection is closed by `close`.
 *
 * @throws {OperationError} `storage-damaged` when the database is not SQLite, or not one of this adapter.
 * @throws {TypeError} for another connection, and for an option that is unknown or of another type.
 */
export function sqliteStorage(connection: SqliteConnection, options: SqliteStorageOptions = {}): Storage {
  checkOptions('sqliteStorage', SHAPE, options)
  return storageOn(inThread(migrated(connection)), options)
}

/** Keeps users and sessions in a SQLite database over the caller's own connection; the rest as `sqliteStorage`. */
export function sqliteSessionStore(connection: SqliteConnection): SessionStore {
  return sessionStoreOn(inThread(migrated(connection)))
}

/** Keeps imported code systems in a SQLite database over the caller's own connection; the rest as `sqliteStorage`. */
export function sqliteConceptStore(connection: SqliteConnection): ConceptStore {
  return conceptStoreOn(inThread(migrated(connection)))
}

function migrated(connection: SqliteConnection): SqliteDriver {
  const db = sqliteDriver(connection)
  migrate(db)
  return db
}
