import { LRUCache } from 'lru-cache'
import { OperationError } from '../errors/index.js'
import type { KnownSession, SessionNews, SessionStore } from '../storage/index.js'
import { after, type Awaitable, onDemand } from '../work/index.js'
import type { AuditEntry } from './audit.js'
import type { RefusedSessions } from './refused-sessions.js'

/** Services that the parts of the session service share. */
export interface SessionServices {
  readonly store: SessionStore
  readonly now: () => number
  readonly newId: () => string
  readonly random: (bytes: number) => Uint8Array
  /** Scopes of the host. */
  readonly customScopes: ReadonlySet<string>
  readonly audit: (entry: AuditEntry) => Promise<void>
  readonly known: KnownSessions
  readonly refused: RefusedSessions
  /** Time of the last use that this process recorded, by login id. */
  readonly noted: LRUCache<string, number>
  /** Runs a write in the background. */
  readonly background: (work: () => Promise<unknown>) => void
}

/** A short-lived cache of sessions, where the operator allows a delay. */
interface KnownSessions {
  /** Returns the cached session if it is fresh; otherwise calls `read`. */
  get(digest: string, read: () => Awaitable<KnownSession | undefined>): Awaitable<KnownSession | undefined>
  /** Clears the cache; called with every change that this process makes. */
  forget(): void
}

const MAX_KNOWN = 10_000

/** Creates the cache of recorded uses. */
export function notedUses(): LRUCache<string, number> {
  return new LRUCache({ max: MAX_KNOWN })
}

/**
 * Creates the cache of sessions.
 *
 * @param maxAgeMs Maximum age of an entry; 0 reads the store every time.
 * @param news Reports changes by other processes, which clear the cache. Nothing is cached while such changes are not heard.
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
        // After a change during the read, the result may be outdated and is not cached.
        if (found !== undefined && before === generation) kept.set(digest, found)
        return found
      })
    },
    forget,
  }
}

/** The message for every token that is not accepted, whatever the reason. */
export const INVALID_TOKEN = 'Access token is expired, disabled, or deleted, or the user has globally signed out.'

/** Reason why a token was not accepted; for audit only. */
export type RejectionReason =
  | 'unknown'
  /** The issuer reports that the token is not active. */
  | 'inactive'
  /** The proof of possession of its key is missing or wrong. */
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

/** Creates the error for a token that is not accepted. */
export function rejected(reason: RejectionReason): OperationError {
  return new OperationError('token-invalid', INVALID_TOKEN, { cause: reason })
}

/** Returns the reason of an error that `rejected` created; `undefined` for any other error. */
export function rejectionReason(error: unknown): string | undefined {
  const known = error instanceof OperationError && error.code === 'token-invalid'
  return known && typeof error.cause === 'string' ? error.cause : undefined
}

/** Prefix of every opaque token, by which secret scanners find leaks. */
export const TOKEN_PREFIX = 'fo_'

const TOKEN_BYTES = 32

/** Creates an opaque token: `fo_` and 256 random bits in base64url. */
export function newToken(random: (bytes: number) => Uint8Array): string {
  const text = btoa(String.fromCharCode(...random(TOKEN_BYTES)))
  return TOKEN_PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Computes the SHA-256 of a text, in lower-case hex; immediately where the runtime can. Not with WebCrypto, which would send a token of 46 bytes to another
 * thread and back.
 */
export function sha256(text: string): Awaitable<string> {
  return nativeHash()?.('sha256', text, 'hex') ?? plainSha256(text)
}

/** Computes the SHA-256 in JavaScript, where there is nothing faster. */
export async function plainSha256(text: string): Promise<string> {
  const [{ sha256: digestOf }, { bytesToHex, utf8ToBytes }] = await hashes()
  return bytesToHex(digestOf(utf8ToBytes(text)))
}

/** Loading the library takes a seventh of the time of importing the handler, and Node.js does not need it. */
const hashes = onDemand(() => Promise.all([import('@noble/hashes/sha2.js'), import('@noble/hashes/utils.js')]))

/**
 * Returns the hash function of the runtime, which takes a tenth of the time; absent in browsers and on edge platforms. Fetched at each call, which is as
 * fast as a stored reference, and not at start, because loading it takes a tenth of the time of loading the handler.
 */
function nativeHash(): Crypto['hash'] | undefined {
  const host: { readonly process?: Runtime; readonly crypto: unknown } = globalThis
  return host.process?.getBuiltinModule?.('node:crypto')?.hash
}

interface Runtime {
  readonly getBuiltinModule?: (name: 'node:crypto') => Partial<Crypto> | undefined
}

interface Crypto {
  readonly hash: (algorithm: 'sha256', text: string, encoding: 'hex') => string
}

/** Compares two digests in constant time. */
export function sameDigest(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
