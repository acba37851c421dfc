import { setTimeout as after } from 'node:timers/promises'
import type { SessionNews } from 'fhir-ops/internal/storage'
import type { Connection, Connections } from '../database/connections.js'
import { sql, type Sql } from '../database/sql.js'

/** News of sessions, received through notifications of the database. */
interface ListeningNews extends SessionNews {
  /** Stops listening. */
  close(): Promise<void>
}

/** Extends a changing statement, which must return rows, so that it notifies every process when it is committed. */
export function notifying(change: Sql): Sql {
  return sql`WITH changed AS (${change}) SELECT changed.*, pg_notify('fhir_ops_sessions', '') FROM changed`
}

/** Pause before the next attempt to connect, in milliseconds. */
const RECONNECT_MS = 250
/** Interval of checks that the connection is alive, because a lost network is not reported, in milliseconds. */
const PROBE_MS = 1_000
const LISTEN = sql`LISTEN fhir_ops_sessions`
const PROBE = sql`SELECT 1`

/** Listens on a separate connection as soon as there is a listener, and reconnects after a loss. */
export function listeningNews(connections: Connections): ListeningNews {
  const listeners = new Set<() => void>()
  const stop = new AbortController()
  let heard = false
  let listening: Promise<void> | undefined
  const ear: Ear = {
    stop: stop.signal,
    tell: () => listeners.forEach((listener) => listener()),
    setHeard(now) {
      heard = now
      ear.tell()
    },
  }
  return {
    get heard() {
      return heard
    },
    onChange(listener) {
      listeners.add(listener)
      listening ??= listen(connections, ear)
    },
    async close() {
      stop.abort()
      await listening
    },
  }
}

interface Ear {
  readonly stop: AbortSignal
  readonly tell: () => void
  readonly setHeard: (heard: boolean) => void
}

async function listen(connections: Connections, ear: Ear): Promise<void> {
  do {
    // Whatever the reason, no news arrive until a later attempt succeeds.
    await connections
      .take()
      .then(async (connection) => listenOn(connection, ear))
      .catch(() => {})
  } while (await sleep(RECONNECT_MS, ear.stop))
}

async function listenOn(connection: Connection, { stop, tell, setHeard }: Ear): Promise<void> {
  const lost = new AbortController()
  const over = AbortSignal.any([stop, lost.signal])
  over.addEventListener('abort', () => setHeard(false), { once: true })
  connection.onEnd(() => lost.abort())
  connection.onNotification(tell)
  try {
    await connection.rows(LISTEN)
    setHeard(!over.aborted)
    while (await sleep(PROBE_MS, over)) await connection.rows(PROBE)
  } finally {
    setHeard(false)
    connection.release('broken')
  }
}

/** Waits; returns false if the signal was aborted first. */
async function sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return after(milliseconds, true, { signal }).catch(() => false)
}
