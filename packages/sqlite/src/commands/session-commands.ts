import { sessionOf } from '@fhir-ops/sql'
import { OperationError } from 'fhir-ops/errors'
import type { SessionRecord, UserRecord } from 'fhir-ops/storage'
import type { SessionChange, SessionState, WantedSessions } from 'fhir-ops/internal/storage'
import type { Command } from './command.js'
import { numberOf, sql, textOf, type Row } from '../database/driver.js'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** Members of a session with their own columns; the others never change and are stored together as JSON (`fixed`). */
const COLUMNS = sql`login_id, digest, sub, state, last_used_at, created_at, expires_at, fixed`

/** Adds a session. */
export const addSession: Command<SessionRecord, null> = {
  name: 'addSession',
  lane: 'write',
  run(db, session) {
    const { loginId, digest, sub, state, lastUsedAt, createdAt, expiresAt, ...fixed } = session
    const same = db.get(sql`SELECT 1 FROM session WHERE login_id = ${loginId} OR digest = ${digest}`)
    if (same !== undefined) throw new OperationError('conflict', 'This session exists already.')
    db.run(sql`INSERT INTO session (${COLUMNS})
      VALUES (${loginId}, ${digest}, ${sub}, ${state}, ${lastUsedAt}, ${createdAt}, ${expiresAt}, ${JSON.stringify(fixed)})`)
    return null
  },
}

/** Reads a session by login id or by digest of its token. */
export const readSession: Command<{ readonly loginId: string } | { readonly digest: string }, SessionRecord | undefined> = {
  name: 'session',
  lane: 'point',
  run(db, key) {
    const where = 'digest' in key ? sql`digest = ${key.digest}` : sql`login_id = ${key.loginId}`
    const row = db.get(sql`SELECT ${COLUMNS} FROM session WHERE ${where}`)
    return row && sessionIn(row)
  },
}

/** Selects sessions of a user. */
interface SessionsOfArgs extends WantedSessions {
  readonly sub: string
  readonly limit: number
}

/** Lists the sessions of a user, newest first. */
export const sessionsOf: Command<SessionsOfArgs, readonly SessionRecord[]> = {
  name: 'sessionsOf',
  lane: 'point',
  run(db, { sub, limit, state, expiresAfter }) {
    const inState = state === undefined ? sql`` : sql`AND state = ${state}`
    const lasting = expiresAfter === undefined ? sql`` : sql`AND expires_at > ${expiresAfter}`
    return db
      .all(sql`SELECT ${COLUMNS} FROM session WHERE sub = ${sub} ${inState} ${lasting} ORDER BY created_at DESC, login_id LIMIT ${limit}`)
      .map(sessionIn)
  },
}

/** Changes a session that is in one of the states `from`. */
interface SessionChangeArgs {
  readonly loginId: string
  readonly from: readonly SessionState[]
  readonly change: SessionChange
}

/** Changes a session and returns the new record; `undefined` if there was no such session in these states. */
export const changeSession: Command<SessionChangeArgs, SessionRecord | undefined> = {
  name: 'changeSession',
  lane: 'write',
  run(db, { loginId, from, change }) {
    const before = readSession.run(db, { loginId })
    if (before === undefined || !from.includes(before.state)) return undefined
    const after = { ...before, ...change }
    const changed = sql`state = ${after.state}, last_used_at = ${after.lastUsedAt}, expires_at = ${after.expiresAt}`
    db.run(sql`UPDATE session SET ${changed} WHERE login_id = ${loginId}`)
    return after
  },
}

/** Revokes all active sessions of the user except one. */
export const endOthers: Command<{ readonly sub: string; readonly except: string }, number> = {
  name: 'endOthers',
  lane: 'write',
  run(db, { sub, except }) {
    const others = sql`sub = ${sub} AND login_id <> ${except} AND state IN ('active', 'disabled')`
    return db.all(sql`UPDATE session SET state = 'revoked' WHERE ${others} RETURNING 1`).length
  },
}

/** A key that may be used once until the given time. */
interface UseArgs {
  readonly key: string
  readonly now: number
  readonly until: number
}

/** Returns true on the first use of a key; removes expired keys. */
export const useOnce: Command<UseArgs, boolean> = {
  name: 'useOnce',
  lane: 'write',
  run(db, { key, now, until }) {
    db.run(sql`DELETE FROM used_key WHERE until <= ${now}`)
    return db.all(sql`INSERT INTO used_key (key, until) VALUES (${key}, ${until}) ON CONFLICT DO NOTHING RETURNING 1`).length === 1
  },
}

/** Removes sessions that expired before a time. */
export const purgeSessions: Command<number, number> = {
  name: 'purge',
  lane: 'write',
  run: (db, expiredBefore) => db.all(sql`DELETE FROM session WHERE expires_at < ${expiredBefore} RETURNING 1`).length,
}

function sessionIn(row: Row): SessionRecord {
  return sessionOf({
    fixed: textOf(row[7]),
    loginId: textOf(row[0]),
    digest: textOf(row[1]),
    sub: textOf(row[2]),
    state: textOf(row[3]),
    lastUsedAt: numberOf(row[4]),
    createdAt: numberOf(row[5]),
    expiresAt: numberOf(row[6]),
  })
}

const USER_COLUMNS = sql`sub, claims, state, epoch, epoch_raised_at`

/** Reads a user by `sub`. */
export const readUser: Command<string, UserRecord | undefined> = {
  name: 'user',
  lane: 'point',
  run(db, sub) {
    const row = db.get(sql`SELECT ${USER_COLUMNS} FROM user WHERE sub = ${sub}`)
    return row && userOf(row)
  },
}

/** Creates a user, or replaces the claims of an existing user. */
export const putUser: Command<{ readonly sub: string; readonly claims: JsonObject }, UserRecord> = {
  name: 'putUser',
  lane: 'write',
  run(db, { sub, claims }) {
    const text = JSON.stringify(claims)
    const [row] = db.all(sql`INSERT INTO user (${USER_COLUMNS}) VALUES (${sub}, ${text}, 'active', 0, 0)
      ON CONFLICT (sub) DO UPDATE SET claims = excluded.claims RETURNING ${USER_COLUMNS}`)
    return userOf(row ?? [])
  },
}

/** A change of a user at a time in milliseconds since 1970. */
interface UserChange {
  readonly sub: string
  /** The new state; unchanged if absent. */
  readonly state?: UserRecord['state']
  readonly at: number
}

/** Sets the state of a user, and raises the epoch unless the user becomes active. */
export const changeUser: Command<UserChange, UserRecord | undefined> = {
  name: 'changeUser',
  lane: 'write',
  run(db, { sub, state, at }) {
    if (state !== 'active') db.run(sql`UPDATE user SET epoch = epoch + 1, epoch_raised_at = ${at} WHERE sub = ${sub}`)
    if (state !== undefined) db.run(sql`UPDATE user SET state = ${state} WHERE sub = ${sub}`)
    return readUser.run(db, sub)
  },
}

const STATES: ReadonlySet<string> = new Set(['active', 'disabled', 'deleted'])

function userOf(row: Row): UserRecord {
  const claims: unknown = JSON.parse(textOf(row[1]))
  const state = textOf(row[2])
  if (!isObject(claims) || !isState(state)) throw new TypeError('A user row cannot be read.')
  return { sub: textOf(row[0]), claims, state, epoch: numberOf(row[3]), epochRaisedAt: numberOf(row[4]) }
}

function isState(text: string): text is UserRecord['state'] {
  return STATES.has(text)
}
