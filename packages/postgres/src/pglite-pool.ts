import type { PostgresClient, PostgresPool } from './database/sql.js'

/** The part of a PGlite (`@electric-sql/pglite`) that `pglitePool` calls. */
export interface PgliteDatabase {
  query(text: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/**
 * Creates a pool over the single connection of a PGlite, which callers use one at a time. `openPostgres` requires `notify: false` with it, because one
 * connection cannot listen and work, and `allowLossyCommits: true`. The PGlite stays open when the pool ends.
 */
export function pglitePool(db: PgliteDatabase): PostgresPool {
  let free = Promise.resolve()
  return {
    async connect() {
      const before = free
      const { promise, resolve } = Promise.withResolvers<void>()
      free = promise
      await before
      return clientOn(db, resolve)
    },
    on: () => undefined,
    end: async () => free,
  }
}

function clientOn(db: PgliteDatabase, release: () => void): PostgresClient {
  return {
    query: async ({ text, values }) => db.query(text, values),
    release,
    on: () => undefined,
  }
}
