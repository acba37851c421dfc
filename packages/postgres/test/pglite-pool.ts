import type { PGlite } from '@electric-sql/pglite'
import type { PostgresClient, PostgresPool } from '../src/index.js'

/** A pool over the one connection of a PGlite, which is lent to one caller after the other and stays open. */
export function pglitePool(db: PGlite): PostgresPool {
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

function clientOn(db: PGlite, release: () => void): PostgresClient {
  return {
    query: async ({ text, values }) => db.query(text, values),
    release,
    on: () => undefined,
  }
}
