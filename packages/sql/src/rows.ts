import { OperationError } from 'fhir-ops/errors'
import { storedResource, type StoredResource, type SessionRecord } from 'fhir-ops/storage'
import type { SessionState } from 'fhir-ops/internal/storage'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { LRUCache } from 'lru-cache'

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

/**
 * A cache of recently read resources, so that a large one is read and parsed once. The database is still asked for the current version each time; only its
 * text is not read again.
 */
export interface ResourceCache {
  lookUp(type: string): LookUp
}

/** Access to the cache during one call. */
export interface LookUp {
  /** Returns the cached version, which the database compares with the current one. */
  readonly versionOf: (id: string) => number | undefined
  /** Returns the resource of a row; the cached one if the row has no text. */
  readonly resource: (row: ResourceRow) => StoredResource
}

/** Weight of an entry in addition to its text, in characters. */
const ENTRY_OVERHEAD = 500

/** Limits of a cache. */
export interface ResourceCacheBounds {
  /** Maximum total length of the texts; 0 disables the cache. */
  readonly maxCharacters: number
  /** Minimum length of a text to be cached. Default 0. */
  readonly fromCharacters?: number
}

/** Creates a cache that discards the least recently used resources. */
export function createResourceCache({ maxCharacters, fromCharacters = 0 }: ResourceCacheBounds): ResourceCache {
  const kept = maxCharacters === 0 ? undefined : new LRUCache<string, StoredResource>({ maxSize: maxCharacters })
  return {
    lookUp(type) {
      const atHand = new Map<string, StoredResource>()
      return {
        versionOf(id) {
          const found = kept?.get(`${type}/${id}`)
          if (found === undefined) return undefined
          atHand.set(id, found)
          return Number(found.versionId)
        },
        resource(row) {
          const found = row.text === undefined ? atHand.get(row.id) : undefined
          if (found !== undefined) return found
          const resource = resourceOf(type, row)
          const characters = row.text?.length ?? 0
          if (characters >= fromCharacters) kept?.set(`${type}/${row.id}`, resource, { size: characters + ENTRY_OVERHEAD })
          return resource
        },
      }
    },
  }
}
