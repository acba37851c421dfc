export { openPostgres, openPostgresToFill, type OpenPostgresOptions, type PostgresDatabase } from './open-postgres.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresValue } from './database/sql.js'
export { pglitePool, type PgliteDatabase } from './pglite-pool.js'
