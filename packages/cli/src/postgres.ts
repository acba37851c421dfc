import pg from 'pg'
import { openPostgres, type PostgresDatabase } from '@fhir-ops/postgres'

/** The URL in `postgres:URL`, or the option itself where it is such a URL. */
export function postgresUrl(option: string): string | undefined {
  return /^(?:postgres:)?(postgres(?:ql)?:\/\/.+)$/.exec(option)?.[1]
}

/** Opens the database of a URL, with the driver's own defaults for what the URL leaves out. */
export async function openPostgresUrl(url: string): Promise<PostgresDatabase> {
  const pool = new pg.Pool({ connectionString: url })
  try {
    return await openPostgres(pool)
  } catch (error) {
    await pool.end()
    throw error
  }
}
