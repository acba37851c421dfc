import { LRUCache } from 'lru-cache'
import { OperationError } from '../errors/index.js'
import type { KnownSession, SessionNews, SessionStore } from '../storage/index.js'
import { after, type Awaitable } from '../work/index.js'
import type { AuditEntry } from './audit.js'
import type { RefusedSessions } from './refused-sessions.js'

/** What the parts of the session service share. */
export interface SessionServices {
  readonly store: SessionStore
  readonly now: () => number
  readonly newId: () => string
  readonly random: (bytes: number) => Uint8Array
  /** Scopes of the host's own. */
  readonly customScopes: ReadonlySet<string>
  readonly audit: (entry: AuditEntry) => Promise<void>
  readonly known: KnownSessions
  readonly refused: RefusedSessions
  /** When this process last noted a use, by login id. */
  readonly noted: LRUCache<string, number>
  /** Runs a write in the background. */
  readonly background: (work: () => Promise<unknown>) => void
}

/** Sessions read a moment ago, where the operator allows a delay. */
export interface KnownSessions {
  /** Reads through `read` unless the session is known and fresh. */
  get(digest: string, read: () => Awaitable<KnownSession | undefined>): Awaitable<KnownSession | undefined>
  /** Forgets everything; called with every change that this process makes. */
  forget(): void
}

const MAX_KNOWN = 10_000

/** Makes the memory of noted uses. */
export function notedUses(): LRUCache<string, number> {
  return new LRUCache({ max: MAX_KNOWN })
}

/**
 * @param maxAgeMs 0 reads the store every time.
 * @param news Forgets what other processes changed, and keeps nothing while such changes are not heard of.
 */
export function knownSessions(maxAgeMs: number, news?: SessionNews): KnownSessions {
  if (maxAgeMs === 0) return { get: (_digest, read) => read(), forget: () => {} }
  const kept = new LRUCache<string, KnownSession>({ max: MAX_KNOWN, ttl: maxAgeMs, ttlResolution: 0 })
  let generation = 0
  const forget = (): void => {
    generation++
    kept.clear()
  }
  news?.onChange(forget)
  return {
    get(digest, read) {
      if (news?.heard === false) return read()
      const fresh = kept.get(digest)
      if (fresh !== undefined) return fresh
      const before = generation
      return after(read(), (found) => {
        // A change during the read may have come after it: what was read is not kept then.
        if (found !== undefined && before === generation) kept.set(digest, found)
        return found
      })
    },
    forget,
  }
}

/** One sentence for every token that is not accepted, whatever the reason. */
export const INVALID_TOKEN = 'Access token is expired, disabled, or deleted, or the user has globally signed out.'

/** Why a token was not accepted; for audit only. */
export type RejectionReason =
  | 'unknown'
  /** Its issuer says that it is not active. */
  | 'inactive'
  /** Of possession of its key. */
  | 'proof'
  | 'expired'
  | 'malformed'
  | 'signature'
  | 'claims'
  | 'other-subject'
  | 'revoked'
  | 'logged-out'
  | 'disabled'
  | 'deleted'
  | 'signed-out'
  | 'user-unknown'
  | 'user-disabled'
  | 'user-deleted'

/** Makes the error for a token that is not accepted. */
export function rejected(reason: RejectionReason): OperationError {
  return new OperationError('token-invalid', INVALID_TOKEN, { cause: reason })
}

/** The reason behind an error made by `rejected`; `undefined` for others. */
export function rejectionReason(error: unknown): string | undefined {
  const known = error instanceof OperationError && error.code === 'token-invalid'
  return known && typeof error.cause === 'string' ? error.cause : undefined
}
