import { isString, ownCopy } from '../json/index.js'
import type { KnownSession, SessionRecord, SessionStore, UserRecord } from '../storage/index.js'
import { after, isPending, type Awaitable } from '../work/index.js'
import { rejected, type RejectionReason, type SessionServices, sameDigest, sha256, TOKEN_PREFIX } from './state.js'

/** The caller of a request: the user and session of an accepted token. */
export interface Principal {
  /** Subject identifier of the user. */
  readonly sub: string
  /** Id of the session. */
  readonly loginId: string
  /** Granted scopes. */
  readonly scopes: readonly string[]
  /** All stored claims of the user, whatever the scopes; the user-information endpoint selects among them. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Expiry in milliseconds since 1970. */
  readonly expiresAt: number
  /** Id of the client that the token was issued to. */
  readonly client?: string | undefined
  /** Project of the user; then only its bots can be called. */
  readonly project?: string | undefined
  /** Id of the Patient that `patient/` scopes apply to. */
  readonly patient?: string | undefined
}

const MAX_TOKEN_LENGTH = 8_192
const TOUCH_MS = 60_000

/** Returns the principal of a token. @throws {OperationError} `token-invalid` for every token that does not belong to an active session. */
export async function verifyToken(services: SessionServices, token: string): Promise<Principal> {
  if (!isString(token) || !token.startsWith(TOKEN_PREFIX) || token.length > MAX_TOKEN_LENGTH) throw rejected('unknown')
  const found = after(sha256(token), (digest) => knownSession(services, digest))
  const known = isPending(found) ? await found : found
  if (known === undefined) throw rejected('unknown')
  return accepted(services, known)
}

/** Finds the session with a digest, and its user, whatever their state. */
export function knownSession(services: SessionServices, digest: string): Awaitable<KnownSession | undefined> {
  return services.known.get(digest, () => readSession(services.store, digest))
}

function readSession(store: SessionStore, digest: string): Awaitable<KnownSession | undefined> {
  const known = store.knownByDigest === undefined ? readInTurn(store, digest) : store.knownByDigest(digest)
  return after(known, (found) => (found !== undefined && sameDigest(found.session.digest, digest) ? found : undefined))
}

async function readInTurn(store: SessionStore, digest: string): Promise<KnownSession | undefined> {
  const session = await store.sessionByDigest(digest)
  return session && { session, user: await store.user(session.sub) }
}

/** Returns the principal of an active session, and records its use. @throws {OperationError} `token-invalid` for any other session. */
export function accepted(services: SessionServices, known: KnownSession): Principal {
  const reason = rejectionOf(services, known)
  if (reason !== undefined) throw rejected(reason)
  touch(services, known.session)
  return principalOf(known.session, known.user)
}

/** True if a token of the session would be accepted. */
export function isActive(services: SessionServices, known: KnownSession): boolean {
  return rejectionOf(services, known) === undefined
}

function rejectionOf(services: SessionServices, { session, user }: KnownSession): RejectionReason | undefined {
  if (session.state !== 'active') return session.state
  if (services.refused.has(session)) return 'logged-out'
  if (session.expiresAt <= services.now()) return 'expired'
  return userRejection(user, session.epoch)
}

function userRejection(user: UserRecord | undefined, epoch: number): RejectionReason | undefined {
  if (user === undefined) return 'user-unknown'
  if (user.state !== 'active') return `user-${user.state}`
  return epoch < user.epoch ? 'signed-out' : undefined
}

function principalOf(session: SessionRecord, user: UserRecord | undefined): Principal {
  return {
    sub: session.sub,
    loginId: session.loginId,
    scopes: [...session.scopes],
    claims: ownCopy(user?.claims ?? {}),
    expiresAt: session.expiresAt,
    ...(session.client !== undefined && { client: session.client }),
    ...(session.project !== undefined && { project: session.project }),
    ...(session.patient !== undefined && { patient: session.patient }),
  }
}

/** Records the use of a session at most once a minute; a request never waits for this or fails because of it. */
function touch(services: SessionServices, session: SessionRecord): void {
  const now = services.now()
  if (now - Math.max(session.lastUsedAt, services.noted.get(session.loginId) ?? 0) < TOUCH_MS) return
  services.noted.set(session.loginId, now)
  services.background(() => services.store.changeSession(session.loginId, ['active'], { lastUsedAt: now }))
}
