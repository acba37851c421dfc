import { createResourceCache } from '@fhir-ops/sql'
import { checkEntries, checkQuery, checkScan } from 'fhir-ops/internal/storage'
import type { Capabilities, ReadResult, Storage } from 'fhir-ops/storage'
import type { Database } from '../database/database.js'
import type { Reading } from '../database/replicas.js'
import { changesIn } from './changes.js'
import { historyIn } from './history.js'
import { LARGE, resourceRow } from './resource-row.js'
import { keptCounts } from '../search/kept-counts.js'
import { scanPage } from '../search/scan.js'
import { countMatches, searchPage } from '../search/search-page.js'
import { prepared, sql } from '../database/sql.js'
import { writeEntries } from './write-entries.js'

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true, contained: true }

/** After more changes a count is done again, which may take less than to read them. */
const FEW_CHANGES = 200

/** How resources are kept. */
export interface StorageOptions {
  readonly now: () => Date
  readonly history: boolean
  readonly cacheCharacters: number
  /** Where searches, counts, scans and pages of histories are read. */
  readonly reading: Reading
  /** Whether rows bear the transaction that wrote them. */
  readonly bearsTransactions: boolean
}

/** The resources in a database. */
export function storageIn(db: Database, { now, history, cacheCharacters, reading, bearsTransactions }: StorageOptions): Storage {
  const cache = createResourceCache({ maxCharacters: cacheCharacters, fromCharacters: LARGE })
  const counted: Storage['count'] = async (query) => reading(async (executor) => countMatches(executor, query))
  const count = bearsTransactions ? keptCounts(changesIn(db, FEW_CHANGES), counted) : counted
  return {
    capabilities: CAPABILITIES,
    changes: bearsTransactions ? changesIn(db) : undefined,
    ...(history && { history: historyIn(db, reading) }),
    async read(type, id): Promise<ReadResult> {
      const { versionOf, resource } = cache.lookUp(type)
      const text = sql`CASE WHEN version = ${versionOf(id) ?? 0} THEN NULL ELSE text END AS text`
      const read = sql`SELECT id, version, updated, ${text} FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL`
      const [row] = await db.rows(prepared('read', read))
      return row && resource(resourceRow(row))
    },
    async search(query) {
      checkQuery(query)
      return reading(async (executor) => searchPage(executor, query, { cache }))
    },
    async scan(query) {
      checkScan(query)
      return reading(async (executor) => scanPage(executor, query))
    },
    async count(query) {
      checkQuery(query)
      return count(query)
    },
    async write(entries) {
      checkEntries(entries)
      return writeEntries(db, entries, { now: now().getTime(), history })
    },
    close: async () => db.close(),
  }
}
