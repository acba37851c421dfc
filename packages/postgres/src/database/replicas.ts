import { OperationError } from 'fhir-ops/errors'
import { setTimeout as after } from 'node:timers/promises'
import type { Database, Executor } from './database.js'
import { prepared, sql, textAt, type Sql } from './sql.js'

/** Runs what only reads. */
export type Reading = <T>(work: (executor: Executor) => Promise<T>) => Promise<T>

/** How long a standby may take to have what the primary had when a read began. */
const LAG_MS = 20
const POLL_MS = 1
/** How long a standby that could not be used is left alone. */
const AWAY_MS = 1_000

interface Standby {
  readonly db: Database
  /** On the clock of `performance.now`; 0 when it could be used the last time. */
  awayUntil: number
}

/**
 * Reads from standbys, in turn, what every caller could read on the primary when the call began: whatever any process had acknowledged by
 * then is there. The primary is asked how far its log goes, together for those who ask at the same time, and a standby answers when it has replayed
 * that. Where none does so in time, can be reached, or belongs to this primary, the primary answers.
 */
export function readingFrom(primary: Database, replicas: readonly Database[]): Reading {
  if (replicas.length === 0) return async (work) => work(primary)
  const standbys: readonly Standby[] = replicas.map((db) => ({ db, awayUntil: 0 }))
  const position = shared(() => positionOf(primary))
  let turn = 0
  const isPresent = ({ awayUntil }: Standby): boolean => awayUntil <= performance.now()
  const next = (): Standby | undefined => {
    const present = standbys.filter(isPresent)
    return present[turn++ % present.length]
  }
  return async (work) => {
    const wanted = standbys.some(isPresent) ? await position() : undefined
    const standby = next()
    if (wanted === undefined || standby === undefined) return work(primary)
    // Whether one is back is tried by one read, which may wait as long as a connection may take; the others do not.
    if (standby.awayUntil > 0) standby.awayUntil = Infinity
    let hasBegun = false
    try {
      return await standby.db.session(async (executor) => {
        await caughtUp(executor, wanted)
        standby.awayUntil = 0
        hasBegun = true
        return work(executor)
      })
    } catch (error) {
      if (hasBegun && !isOfStandby(error)) throw error
      standby.awayUntil = performance.now() + AWAY_MS
      return work(primary)
    }
  }
}

/** Of a connection that was lost, and of a read that recovery had to cancel: what takes too long would take as long on the primary. */
function isOfStandby(error: unknown): boolean {
  return error instanceof OperationError && (error.code === 'storage-unavailable' || error.code === 'storage-locked')
}

/** How far the log of a primary goes, and in which timeline: after a failover the logs of two may have the same positions. */
interface Position {
  readonly lsn: string
  readonly timeline: string
}

async function positionOf(primary: Database): Promise<Position> {
  // What is acknowledged before it is on disk has been inserted only.
  const lsn = sql`CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END`
  const [row = {}] = await primary.rows(
    prepared('position', sql`SELECT lsn::text AS lsn, left(pg_walfile_name(lsn), 8) AS timeline FROM (SELECT ${lsn} AS lsn) AS p`),
  )
  return { lsn: textAt(row, 'lsn'), timeline: textAt(row, 'timeline') }
}

/** Of a server in recovery; the log of one that has become a primary is its own. */
const TIMELINE: Sql = sql`lpad(upper(to_hex(greatest((pg_control_checkpoint()).timeline_id, (pg_control_recovery()).min_recovery_end_timeline))), 8, '0')`

async function caughtUp(standby: Executor, { lsn, timeline }: Position): Promise<void> {
  const end = performance.now() + LAG_MS
  const ask = prepared(
    'replayed',
    sql`SELECT pg_is_in_recovery() AND ${TIMELINE} = ${timeline} AS follows, pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn AS has_all`,
  )
  for (;;) {
    const [row] = await standby.rows(ask)
    if (row?.['follows'] === true && row['has_all'] === true) return
    if (row?.['follows'] !== true || performance.now() >= end)
      throw new OperationError('storage-unavailable', 'The standby does not have what the primary had when the read began.')
    await after(POLL_MS)
  }
}

/** Asks one question at a time, for all who ask meanwhile. An answer never comes from a question that began before the call. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  let next: Promise<T> | undefined
  const begin = async (): Promise<T> => {
    next = undefined
    underWay = ask()
    try {
      return await underWay
    } finally {
      underWay = undefined
    }
  }
  return async () => (underWay === undefined ? begin() : (next ??= underWay.then(begin, begin)))
}
