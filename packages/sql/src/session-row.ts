import { isObject, stringAt } from 'fhir-ops/json'
import type { SessionRecord, SessionState } from 'fhir-ops/storage'

/** A session as it leaves the database. */
export interface SessionRow extends Pick<SessionRecord, 'loginId' | 'digest' | 'sub' | 'lastUsedAt' | 'createdAt' | 'expiresAt'> {
  readonly state: string
  /** JSON of the members that never change. */
  readonly fixed: string
}

/** What callers of the store get for a row. @throws {TypeError} when it is not a session. */
export function sessionOf({ fixed, ...columns }: SessionRow): SessionRecord {
  const members: unknown = JSON.parse(fixed)
  const session: unknown = isObject(members) ? { ...members, ...columns } : undefined
  if (!isSession(session)) throw new TypeError('A session row cannot be read.')
  return session
}

const STATES: ReadonlySet<string> = new Set<SessionState>(['active', 'revoked', 'logged-out', 'disabled', 'deleted'])

function isSession(value: unknown): value is SessionRecord {
  if (!isObject(value)) return false
  return STATES.has(stringAt(value, 'state') ?? '') && typeof value['epoch'] === 'number' && Array.isArray(value['scopes'])
}
