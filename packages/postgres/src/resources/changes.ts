import { joined } from '@fhir-ops/sql'
import type { StorageChanges } from 'fhir-ops/storage'
import { isContainedType, type ChangedAddress } from 'fhir-ops/internal/storage'
import type { Executor } from '../database/database.js'
import { textAt, type Row } from '../database/row.js'
import { prepared, sql, type Sql } from '../database/sql.js'

/** What depends on more changes than this is sooner made again. */
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
 * Tells what was put or deleted since a mark, from the transactions that rows bear. A mark is a snapshot of the database: what it does not show is what
 * bears a transaction that was not over then, however long that took and in whatever order they ended. Marks hold for one run of the server, since what
 * is set back, restored or promoted begins with another, and gives the numbers of lost transactions to others; and for one table with its file.
 *
 * @param most More changes than these are not read.
 */
export function changesIn(db: Executor, most: number = MAX_CHANGES): (since?: string) => Promise<StorageChanges> {
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
 * A row for each change, or one without. The order keeps the planner at the index, whatever it believes of how many there are. What was restored from a
 * dump bears transactions of another server, which may be later than any here.
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
