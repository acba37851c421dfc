import { sessionOf } from '@fhir-ops/sql'
import { OperationError } from 'fhir-ops/errors'
import type { SessionRecord, SessionStore, UserRecord } from 'fhir-ops/storage'
import type { KnownSession, SessionChange, SessionNews } from 'fhir-ops/internal/storage'
import { isObject } from 'fhir-ops/internal/json'
import { setTimeout as after } from 'node:timers/promises'
import type { Database } from '../database/database.js'
import { sharedByKey } from '../database/replicas.js'
import { numberAt, textAt, prepared, sql, type Row, type Sql } from '../database/sql.js'
import type { Connection, Connections } from '../database/connections.js'

type SessionMethods = Omit<SessionStore, 'user' | 'putUser' | 'setUserState' | 'raiseEpoch' | 'news'>

/** Members of a session with their own columns; the others never change and are stored together as JSON (`fixed`). */
const COLUMNS = sql`login_id, digest, sub, state, last_used_at, created_at, expires_at, fixed`

/** Creates the store of sessions in a database; `notifying` extends a changing statement so that it notifies other processes. */
export function sessionsIn(db: Database, notifying: (change: Sql) => Sql): SessionMethods {
  const first = async (name: string, statement: Sql): Promise<SessionRecord | undefined> => {
    const [row] = await db.rows(prepared(name, statement))
    return row && sessionIn(row)
  }
  const count = async (name: string, change: Sql): Promise<number> => (await db.rows(prepared(name, change))).length
  return {
    addSession: async (session) => addSession(db, session),
    session: async (loginId) => first('session', sql`SELECT ${COLUMNS} FROM fhir_session WHERE login_id = ${loginId}`),
    sessionByDigest: async (digest) => first('digest', sql`SELECT ${COLUMNS} FROM fhir_session WHERE digest = ${digest}`),
    knownByDigest: sharedByKey((digest) => knownByDigest(db, digest)),
    async sessionsOf(sub, limit, { state, expiresAfter } = {}) {
      const inState = state === undefined ? sql`` : sql`AND state = ${state}`
      const lasting = expiresAfter === undefined ? sql`` : sql`AND expires_at > ${expiresAfter}`
      const wanted = sql`sub = ${sub} ${inState} ${lasting}`
      const rows = await db.rows(sql`SELECT ${COLUMNS} FROM fhir_session WHERE ${wanted} ORDER BY created_at DESC, login_id LIMIT ${limit}`)
      return rows.map(sessionIn)
    },
    async changeSession(loginId, from, change) {
      const update = sql`UPDATE fhir_session SET ${changed(change)} WHERE login_id = ${loginId} AND state = ANY (${from}) RETURNING ${COLUMNS}`
      return change.state === undefined ? first('touch_session', update) : first('change_session', notifying(update))
    },
    endOthers: async (sub, except) =>
      count(
        'end_others',
        notifying(
          sql`UPDATE fhir_session SET state = 'revoked'
            WHERE sub = ${sub} AND login_id <> ${except} AND state IN ('active', 'disabled') RETURNING 1`,
        ),
      ),
    async useOnce(key, { now, until }) {
      await db.rows(prepared('forget_used', sql`DELETE FROM fhir_used_key WHERE until <= ${now}`))
      const use = sql`INSERT INTO fhir_used_key (key, until) VALUES (${key}, ${until}) ON CONFLICT DO NOTHING RETURNING 1`
      return (await count('use_once', use)) === 1
    },
    purge: async (expiredBefore) => count('purge', sql`DELETE FROM fhir_session WHERE expires_at < ${expiredBefore} RETURNING 1`),
  }
}

/** Reads a session with its user. */
async function knownByDigest(db: Database, digest: string): Promise<KnownSession | undefined> {
  // Names the columns: if a newer version added a column, a prepared statement with `*` would fail.
  const read = sql`SELECT s.login_id, s.digest, s.sub, s.state, s.last_used_at, s.created_at, s.expires_at, s.fixed,
      u.claims, u.state AS user_state, u.epoch, u.epoch_raised_at
    FROM fhir_session s LEFT JOIN fhir_user u ON u.sub = s.sub WHERE s.digest = ${digest}`
  const [row] = await db.rows(prepared('known', read))
  if (row === undefined) return undefined
  return { session: sessionIn(row), user: row['claims'] === null ? undefined : userOf({ ...row, state: row['user_state'] }) }
}

async function addSession(db: Database, session: SessionRecord): Promise<void> {
  const { loginId, digest, sub, state, lastUsedAt, createdAt, expiresAt, ...fixed } = session
  const add = sql`INSERT INTO fhir_session (${COLUMNS})
    VALUES (${loginId}, ${digest}, ${sub}, ${state}, ${lastUsedAt}, ${createdAt}, ${expiresAt}, ${JSON.stringify(fixed)})
    ON CONFLICT DO NOTHING RETURNING 1`
  const added = await db.rows(prepared('add_session', add))
  if (added.length === 0) throw new OperationError('conflict', 'This session exists already.')
}

function changed({ state, lastUsedAt, expiresAt }: SessionChange): Sql {
  const times = sql`last_used_at = coalesce(${lastUsedAt ?? null}, last_used_at), expires_at = coalesce(${expiresAt ?? null}, expires_at)`
  return sql`state = coalesce(${state ?? null}, state), ${times}`
}

function sessionIn(row: Row): SessionRecord {
  return sessionOf({
    fixed: textAt(row, 'fixed'),
    loginId: textAt(row, 'login_id'),
    digest: textAt(row, 'digest'),
    sub: textAt(row, 'sub'),
    state: textAt(row, 'state'),
    lastUsedAt: numberAt(row, 'last_used_at'),
    createdAt: numberAt(row, 'created_at'),
    expiresAt: numberAt(row, 'expires_at'),
  })
}

const USER_COLUMNS = sql`sub, claims, state, epoch, epoch_raised_at`

/** Creates the store of users in a database; `notifying` extends a changing statement so that it notifies other processes. */
export function usersIn(
  db: Database,
  notifying: (change: Sql) => Sql,
): Pick<SessionStore, 'user' | 'putUser' | 'setUserState' | 'raiseEpoch'> {
  const first = async (name: string, statement: Sql): Promise<UserRecord | undefined> => {
    const [row] = await db.rows(prepared(name, statement))
    return row && userOf(row)
  }
  return {
    user: async (sub) => first('user', sql`SELECT ${USER_COLUMNS} FROM fhir_user WHERE sub = ${sub}`),
    async putUser(sub, claims) {
      const put = sql`INSERT INTO fhir_user (${USER_COLUMNS}) VALUES (${sub}, ${JSON.stringify(claims)}, 'active', 0, 0)
        ON CONFLICT (sub) DO UPDATE SET claims = excluded.claims RETURNING ${USER_COLUMNS}`
      const [row] = await db.rows(prepared('put_user', notifying(put)))
      return userOf(row ?? {})
    },
    async setUserState(sub, state, at) {
      if (state !== 'active')
        return first(
          'end_user',
          notifying(sql`UPDATE fhir_user SET state = ${state}, ${raised(at)} WHERE sub = ${sub} RETURNING ${USER_COLUMNS}`),
        )
      return first('activate_user', notifying(sql`UPDATE fhir_user SET state = 'active' WHERE sub = ${sub} RETURNING ${USER_COLUMNS}`))
    },
    raiseEpoch: async (sub, at) =>
      first('raise_epoch', notifying(sql`UPDATE fhir_user SET ${raised(at)} WHERE sub = ${sub} RETURNING ${USER_COLUMNS}`)),
  }
}

function raised(at: number): Sql {
  return sql`epoch = epoch + 1, epoch_raised_at = ${at}`
}

const STATES: ReadonlySet<string> = new Set(['active', 'disabled', 'deleted'])

/** Reads the columns of a user. */
function userOf(row: Row): UserRecord {
  const claims: unknown = JSON.parse(textAt(row, 'claims'))
  const state = textAt(row, 'state')
  if (!isObject(claims) || !isState(state)) throw new TypeError('A user row cannot be read.')
  return { sub: textAt(row, 'sub'), claims, state, epoch: numberAt(row, 'epoch'), epochRaisedAt: numberAt(row, 'epoch_raised_at') }
}

function isState(text: string): text is UserRecord['state'] {
  return STATES.has(text)
}

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
