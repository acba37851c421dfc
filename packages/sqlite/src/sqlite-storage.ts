import { checkOptions, having, inputShape, type InputShape } from 'fhir-ops/internal/input'
import type { ConceptStore, SessionStore, Storage } from 'fhir-ops/storage'
import type { SqliteConnection } from './database/connection.js'
import { conceptStoreOn, sessionStoreOn, STORAGE_OPTIONS, storageOn, type SqliteStorageOptions } from './stores.js'
import { sqliteDriver, type SqliteDriver } from './database/driver.js'
import { inThread } from './commands/command.js'
import { migrate } from './database/migrations.js'

const SHAPE: InputShape = inputShape<SqliteStorageOptions>(STORAGE_OPTIONS)

/**
 * Creates a storage in a SQLite database over the caller's connection (`node:sqlite` or better-sqlite3). Every call runs synchronously in the calling
 * thread and blocks it; a write blocks until it is flushed. For servers, `openSqlite` is the better choice. The durability of writes depends on the
 * connection's `journal_mode` and `synchronous`. `close` closes the connection.
 *
 * @throws {OperationError} `storage-damaged` if the database is not SQLite, or was not created by this adapter.
 * @throws {TypeError} for anything but such a connection, and for an option that is unknown or of another type.
 */
export function sqliteStorage(connection: SqliteConnection, options: SqliteStorageOptions = {}): Storage {
  checkOptions('sqliteStorage', SHAPE, options)
  return storageOn(inThread(migrated(connection)), options)
}

/** Creates a store of users and sessions in a SQLite database over the caller's connection; otherwise as `sqliteStorage`. */
export function sqliteSessionStore(connection: SqliteConnection): SessionStore {
  return sessionStoreOn(inThread(migrated(connection)))
}

/** Creates a store of imported code systems in a SQLite database over the caller's connection; otherwise as `sqliteStorage`. */
export function sqliteConceptStore(connection: SqliteConnection): ConceptStore {
  return conceptStoreOn(inThread(migrated(connection)))
}

const CONNECTION = having('an open SQLite database', ['exec', 'prepare', 'function', 'close'])

function migrated(connection: SqliteConnection): SqliteDriver {
  if (!CONNECTION.is(connection)) throw new TypeError(`The connection must be ${CONNECTION.words}. openSqlite takes the path of a file.`)
  const db = sqliteDriver(connection)
  migrate(db)
  return db
}
