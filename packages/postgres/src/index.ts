export {
  openPostgres,
  openPostgresToFill,
  type OpenPostgresOptions,
  type PostgresDatabase,
  pglitePool,
  type PgliteDatabase,
} from './open-postgres.js'
export type { PostgresClient, PostgresPool, PostgresQuery, PostgresValue } from './database/sql.js'
