import { OperationError } from 'fhir-ops/errors'
import { storedResource, type StoredResource, type SessionRecord } from 'fhir-ops/storage'
import type { SessionState } from 'fhir-ops/internal/storage'
import { isObject, stringAt } from 'fhir-ops/internal/json'

/** A current version as read from the database; plain data. */
export interface ResourceRow {
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
  /** Text without `meta.versionId` and `meta.lastUpdated`. Absent if the reader already has this version. */
  readonly text?: string
}

/** Converts a row with its text to the form that callers of the storage get. */
export function resourceOf(type: string, { id, version, updated, text }: ResourceRow): StoredResource {
  if (text === undefined) throw new OperationError('storage-unavailable', 'The text of a resource is missing.')
  return storedResource({ type, id, versionId: String(version), lastUpdated: instantOf(updated), text })
}

/** Cache of the last instant, because resources written together have the same time. */
let last = { milliseconds: Number.NaN, text: '' }

/** Formats an instant in UTC with milliseconds. */
export function instantOf(milliseconds: number): string {
  if (milliseconds !== last.milliseconds) last = { milliseconds, text: new Date(milliseconds).toISOString() }
  return last.text
}

/** A session as read from the database. */
export interface SessionRow extends Pick<SessionRecord, 'loginId' | 'digest' | 'sub' | 'lastUsedAt' | 'createdAt' | 'expiresAt'> {
  readonly state: string
  /** JSON of the members that never change. */
  readonly fixed: string
}

/** Converts a row to the form that callers of the store get. @throws {TypeError} if it is not a session. */
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
