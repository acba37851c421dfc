import { joined } from '@fhir-ops/sql'
import { isContainedType, type ChangedAddress } from 'fhir-ops/internal/storage'
import type { StorageChanges } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'
import { prepared, sql, textAt, type Row, type Sql } from '../database/sql.js'

/** With more changes than this, dependent caches are rebuilt, which is faster. */
const MAX_CHANGES = 4_000

/** Transactions that had ended at a certain time. */
interface Mark {
  /** The run of the server, its last recovery, and the table. */
  readonly place: string
  /** Transactions from this one on had not ended. */
  readonly end: string
  /** Earlier transactions that had not ended. */
  readonly underWay: readonly string[]
}

/**
 * Reports what was put or deleted since a mark, using the transactions stored in rows. A mark is a snapshot of the database: a row has changed since if
 * its transaction had not ended then, however long it took and in whatever order transactions ended. A mark is valid for one run of the server until it
 * recovers, because a database that recovered, or was reset, restored or promoted, reuses the numbers of lost transactions; and for one table with its file.
 *
 * @param most If there are more changes than this, they are not read.
 */
export function changesIn(db: Executor, most: number = MAX_CHANGES): (since?: string) => Promise<StorageChanges> {
  return async (since = '') => {
    const from = markOf(since)
    const rows = await db.rows(prepared('changes', changesSql(from ?? NEVER, most)))
    const [{ place, snapshot } = {}] = rows
    // A standby has no marks, because its snapshots differ from those of the primary.
    if (typeof place !== 'string') return { mark: '', changed: 'unknown' }
    const isKnown = from?.place === place && rows.length <= most
    return { mark: `${place} ${String(snapshot)}`, changed: isKnown ? addressesOf(rows) : 'unknown' }
  }
}

const MARK = /^(\S{1,100}) \d+:(\d{1,19}):([\d,]*)$/
const XID = /^\d{1,19}$/
const NEVER: Mark = { place: '', end: '0', underWay: [] }

/** Parses a mark; `undefined` without one, and for a mark that is not from this adapter. */
function markOf(mark: string): Mark | undefined {
  const [, place, end, underWay = ''] = MARK.exec(mark) ?? []
  return place === undefined || end === undefined ? undefined : { place, end, underWay: underWay.split(',').filter((xid) => XID.test(xid)) }
}

/** A server whose process was killed recovers without being started again; then the end of the replayed log is another one. */
const PLACE = sql`CASE WHEN NOT pg_is_in_recovery() THEN concat_ws('/', extract(epoch FROM pg_postmaster_start_time()), pg_last_wal_replay_lsn(),
  (SELECT oid FROM pg_database WHERE datname = current_database()), t.oid, t.relfilenode) END`

/**
 * Selects a row for each change, or one row without a change. The ORDER BY makes the planner use the index, whatever its estimates. Rows restored from
 * a dump have transaction numbers of another server, which may be higher than any here.
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
