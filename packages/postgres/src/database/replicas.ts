import { OperationError } from 'fhir-ops/errors'
import { setTimeout as after } from 'node:timers/promises'
import type { Database, Executor } from './database.js'
import { prepared, sql, textAt, type Sql } from './sql.js'

/** Runs work that only reads. */
export type Reading = <T>(work: (executor: Executor) => Promise<T>) => Promise<T>

/** How long a standby may take to reach the position that the primary had when a read began, in milliseconds. */
const LAG_MS = 20
const POLL_MS = 1
/** How long an unusable standby is not tried, in milliseconds. */
const AWAY_MS = 1_000

interface Standby {
  readonly db: Database
  /** Time until which it is not tried, as given by `performance.now`; 0 if it was usable last time. */
  awayUntil: number
}

/**
 * Reads from standbys, in turn. A read sees at least what any caller could read on the primary when the call began, that is everything that any process had
 * acknowledged by then. The primary is asked for its log position, once for all simultaneous callers, and a standby answers after it has replayed the log
 * up to there. If no standby does so in time, is reachable, or belongs to this primary, the primary answers.
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
    // Only one read tries whether a standby is back, because it may wait until the connection time-out; other reads use the primary meanwhile.
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

/** True for a lost connection, and for a read that recovery had to cancel. A time-out does not count: the read would take as long on the primary. */
function isOfStandby(error: unknown): boolean {
  return error instanceof OperationError && (error.code === 'storage-unavailable' || error.code === 'storage-locked')
}

/** The log position of a primary, with its timeline: after a failover, the logs of two servers may have the same positions. */
interface Position {
  readonly lsn: string
  readonly timeline: string
}

async function positionOf(primary: Database): Promise<Position> {
  // With `synchronous_commit` off, commits are acknowledged before the flush, so the insert position counts.
  const lsn = sql`CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END`
  const [row = {}] = await primary.rows(
    prepared('position', sql`SELECT lsn::text AS lsn, left(pg_walfile_name(lsn), 8) AS timeline FROM (SELECT ${lsn} AS lsn) AS p`),
  )
  return { lsn: textAt(row, 'lsn'), timeline: textAt(row, 'timeline') }
}

/** Timeline of a server in recovery; a server that has become a primary has its own timeline. */
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

/** Shares an asynchronous query among simultaneous callers. The result of a query that began before a call is never used for that call. */
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

/** Like `shared`, for queries about different things: callers share only the query about theirs. */
export function sharedByKey<T>(ask: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, { readonly share: () => Promise<T>; callers: number }>()
  return async (key) => {
    const one = asked.get(key) ?? { share: shared(() => ask(key)), callers: 0 }
    asked.set(key, one)
    one.callers++
    try {
      return await one.share()
    } finally {
      if (--one.callers === 0) asked.delete(key)
    }
  }
}
