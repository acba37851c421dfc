export { backupSqlite, checkSqlite } from './file-tools.js'
export type { SqliteConnection, SqliteStatement, SqliteValue } from './database/driver.js'
export { openSqlite, openSqliteToFill, type OpenSqliteOptions, type SqliteFile } from './open-sqlite.js'
export { sqliteConceptStore, sqliteSessionStore, sqliteStorage, type SqliteStorageOptions } from './stores.js'
