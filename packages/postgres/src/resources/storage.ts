import { createResourceCache, joined } from '@fhir-ops/sql'
import { checkEntries, checkQuery, checkScan, isContainedType, type ChangedAddress } from 'fhir-ops/internal/storage'
import type { Capabilities, ReadResult, Storage, StorageChanges } from 'fhir-ops/storage'
import type { Database, Executor } from '../database/database.js'
import type { Reading } from '../database/replicas.js'
import { historyIn } from './history.js'
import { LARGE, resourceRow } from './resource-row.js'
import { keptCounts } from '../search/kept-counts.js'
import { scanPage } from '../search/scan.js'
import { countMatches, searchPage } from '../search/search-page.js'
import { prepared, sql, textAt, type Sql, type Row } from '../database/sql.js'
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
  /** Whether rows have the transaction that wrote them. */
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

/** What depends on more changes than this is rebuilt, which is faster. */
const MAX_CHANGES = 4_000

/** Which transactions were over at a moment. */
interface Mark {
  /** The run of the server and the table. */
  readonly place: string
  /** All from this one on were not over. */
  readonly end: string
  /** Of those before, these were not over. */
  readonly underWay: readonly string[]
}

/**
 * Tells what was put or deleted since a mark, from the transactions that rows have. A mark is a snapshot of the database: what it does not show is
 * what has a transaction that was not over then, however long that took and in whatever order they ended. Marks hold for one run of the server, since
 * what is set back, restored or promoted begins with another, and gives the numbers of lost transactions to others; and for one table with its file.
 *
 * @param most More changes than these are not read.
 */
function changesIn(db: Executor, most: number = MAX_CHANGES): (since?: string) => Promise<StorageChanges> {
  return async (since = '') => {
    const from = markOf(since)
    const rows = await db.rows(prepared('changes', changesSql(from ?? NEVER, most)))
    const [{ place, snapshot } = {}] = rows
    // A standby has no mark: its snapshots are not those of the primary.
    if (typeof place !== 'string') return { mark: '', changed: 'unknown' }
    const isKnown = from?.place === place && rows.length <= most
    return { mark: `${place} ${String(snapshot)}`, changed: isKnown ? addressesOf(rows) : 'unknown' }
  }
}

const MARK = /^(\S{1,100}) \d+:(\d{1,19}):([\d,]*)$/
const XID = /^\d{1,19}$/
const NEVER: Mark = { place: '', end: '0', underWay: [] }

/** `undefined` for none, and for one that this adapter did not make. */
function markOf(mark: string): Mark | undefined {
  const [, place, end, underWay = ''] = MARK.exec(mark) ?? []
  return place === undefined || end === undefined ? undefined : { place, end, underWay: underWay.split(',').filter((xid) => XID.test(xid)) }
}

const PLACE = sql`CASE WHEN NOT pg_is_in_recovery() THEN concat_ws('/', extract(epoch FROM pg_postmaster_start_time()),
  (SELECT oid FROM pg_database WHERE datname = current_database()), t.oid, t.relfilenode) END`

/**
 * A row for each change, or one without. The order keeps the planner at the index, whatever it believes of how many there are. What was restored from
 * a dump has transactions of another server, which may be later than any here.
 */
function changesSql({ place, end, underWay }: Mark, most: number): Sql {
  const isLater = sql`changed_in >= ${end}::xid8 AND changed_in < pg_snapshot_xmax(n.snapshot)`
  const wasUnderWay = sql`changed_in = ANY (${underWay}::xid8[])`
  const changed = [sql`fhir_resource`, sql`fhir_removed`].flatMap((table) =>
    [isLater, wasUnderWay].map(
      (isNews) => sql`(SELECT type, id FROM ${table} WHERE n.place = ${place} AND changed_in IS NOT NULL AND ${isNews}
        ORDER BY changed_in LIMIT ${most + 1})`,
    ),
  )
  return sql`WITH now AS MATERIALIZED (SELECT ${PLACE} AS place, pg_current_snapshot() AS snapshot FROM pg_class t WHERE t.oid = to_regclass('fhir_resource'))
    SELECT n.place, n.snapshot::text AS snapshot, c.type, c.id FROM now n LEFT JOIN LATERAL (${joined(changed, ' UNION ALL ')}) AS c ON TRUE`
}

function addressesOf(rows: readonly Row[]): readonly ChangedAddress[] {
  return rows
    .filter((row) => typeof row['id'] === 'string')
    .map((row) => ({ type: textAt(row, 'type'), id: textAt(row, 'id') }))
    .filter(({ type }) => !isContainedType(type))
}
