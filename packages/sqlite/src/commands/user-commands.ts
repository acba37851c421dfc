import { isObject, type JsonObject } from 'fhir-ops/json'
import type { UserRecord } from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, textOf, type Row } from '../database/driver.js'
import { sql } from '../database/sql.js'

const COLUMNS = sql`sub, claims, state, epoch, epoch_raised_at`

/** Reads a user by `sub`. */
export const readUser: Command<string, UserRecord | undefined> = {
  name: 'user',
  lane: 'point',
  run(db, sub) {
    const row = db.get(sql`SELECT ${COLUMNS} FROM user WHERE sub = ${sub}`)
    return row && userOf(row)
  },
}

/** Creates a user or replaces the claims of one. */
export const putUser: Command<{ readonly sub: string; readonly claims: JsonObject }, UserRecord> = {
  name: 'putUser',
  lane: 'write',
  run(db, { sub, claims }) {
    const text = JSON.stringify(claims)
    const [row] = db.all(sql`INSERT INTO user (${COLUMNS}) VALUES (${sub}, ${text}, 'active', 0, 0)
      ON CONFLICT (sub) DO UPDATE SET claims = excluded.claims RETURNING ${COLUMNS}`)
    return userOf(row ?? [])
  },
}

/** A change of a user at a time in milliseconds since 1970. */
export interface UserChange {
  readonly sub: string
  /** The state that it gets; as it was when absent. */
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
