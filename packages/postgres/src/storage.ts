import type { Capabilities, Storage } from 'fhir-ops/storage'
import type { Database } from './database.js'
import { historyIn } from './history.js'
import { keptResources } from './kept-resources.js'
import { countMatches, searchPage } from './search-page.js'
import { prepared, sql } from './sql.js'
import { writeEntries } from './write-entries.js'

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true }

/** How resources are kept. */
export interface StorageOptions {
  readonly now: () => Date
  readonly history: boolean
  readonly cacheCharacters: number
}

/** The resources in a database. */
export function storageIn(db: Database, { now, history, cacheCharacters }: StorageOptions): Storage {
  const kept = keptResources(cacheCharacters)
  return {
    capabilities: CAPABILITIES,
    ...(history && { history: historyIn(db) }),
    async read(type, id) {
      const text = sql`CASE WHEN version = ${kept.versionOf(type, id) ?? 0} THEN NULL ELSE text END AS text`
      const read = sql`SELECT id, version, updated, ${text} FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL`
      const [row] = await db.rows(prepared('read', read))
      return row && kept.resource(type, row)
    },
    search: async (query) => searchPage(db, query, { kept }),
    count: async (query) => countMatches(db, query),
    write: async (entries) => writeEntries(db, entries, { now: now().getTime(), history }),
    close: async () => db.close(),
  }
}
