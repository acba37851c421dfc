export { checkSqlite } from './check-sqlite.js'
export type { SqliteConnection, SqliteStatement, SqliteValue } from './connection.js'
export { openSqlite, type OpenSqliteOptions, type SqliteFile } from './open-sqlite.js'
export { sqliteConceptStore, sqliteSessionStore, sqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js'
