export type { SqliteConnection, SqliteStatement, SqliteValue } from './connection.js'
export { sqliteSessionStore, sqliteStorage, type SqliteStorageOptions } from './sqlite-storage.js'
