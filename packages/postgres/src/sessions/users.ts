import { isObject } from 'fhir-ops/json'
import type { SessionStore, UserRecord } from 'fhir-ops/storage'
import type { Database } from '../database/database.js'
import { numberAt, textAt, type Row } from '../database/row.js'
import { prepared, sql, type Sql } from '../database/sql.js'

const COLUMNS = sql`sub, claims, state, epoch, epoch_raised_at`

/** The users in a database; `told` makes a changing statement tell the other processes. */
export function usersIn(db: Database, told: (change: Sql) => Sql): Pick<SessionStore, 'user' | 'putUser' | 'setUserState' | 'raiseEpoch'> {
  const first = async (name: string, statement: Sql): Promise<UserRecord | undefined> => {
    const [row] = await db.rows(prepared(name, statement))
    return row && userOf(row)
  }
  return {
    user: async (sub) => first('user', sql`SELECT ${COLUMNS} FROM fhir_user WHERE sub = ${sub}`),
    async putUser(sub, claims) {
      const put = sql`INSERT INTO fhir_user (${COLUMNS}) VALUES (${sub}, ${JSON.stringify(claims)}, 'active', 0, 0)
        ON CONFLICT (sub) DO UPDATE SET claims = excluded.claims RETURNING ${COLUMNS}`
      const [row] = await db.rows(prepared('put_user', told(put)))
      return userOf(row ?? {})
    },
    async setUserState(sub, state, at) {
      if (state !== 'active')
        return first('end_user', told(sql`UPDATE fhir_user SET state = ${state}, ${raised(at)} WHERE sub = ${sub} RETURNING ${COLUMNS}`))
      return first('activate_user', told(sql`UPDATE fhir_user SET state = 'active' WHERE sub = ${sub} RETURNING ${COLUMNS}`))
    },
    raiseEpoch: async (sub, at) =>
      first('raise_epoch', told(sql`UPDATE fhir_user SET ${raised(at)} WHERE sub = ${sub} RETURNING ${COLUMNS}`)),
  }
}

function raised(at: number): Sql {
  return sql`epoch = epoch + 1, epoch_raised_at = ${at}`
}

const STATES: ReadonlySet<string> = new Set(['active', 'disabled', 'deleted'])

/** Reads the columns of a user. */
export function userOf(row: Row): UserRecord {
  const claims: unknown = JSON.parse(textAt(row, 'claims'))
  const state = textAt(row, 'state')
  if (!isObject(claims) || !isState(state)) throw new TypeError('A user row cannot be read.')
  return { sub: textAt(row, 'sub'), claims, state, epoch: numberAt(row, 'epoch'), epochRaisedAt: numberAt(row, 'epoch_raised_at') }
}

function isState(text: string): text is UserRecord['state'] {
  return STATES.has(text)
}
