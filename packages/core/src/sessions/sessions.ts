import { AMOUNT, checkOptions, CLOCK, FUNCTION, having, inputShape, listOf, needed, oneOf, TEXT, type InputShape } from '../input/index.js'
import { OperationError } from '../errors/index.js'
import type { SessionRecord, SessionStore } from '../storage/index.js'
import { type AuditOrigin, createAudit, type AuditEntry, type AuditOptions } from './audit.js'
import {
  endLogin,
  logout,
  revoke,
  revokeOthers,
  setSessionState,
  setUserState,
  signOutEverywhere,
  type EndedLogin,
  type Revocation,
} from './end.js'
import { adoptForeign, createSession, type ForeignToken, type IssuedToken, type NewSession, type SeenCaller } from './issue.js'
import { type Principal, isActive, verifyToken } from './verify.js'
import { KEEP_EXPIRED_MS, refusedSessions } from './refused-sessions.js'
import { knownSessions, notedUses, type SessionServices } from './state.js'
import { sha256 } from './token.js'

/** What `createSessions` needs. */
export interface SessionsOptions extends AuditOptions {
  readonly store: SessionStore
  readonly now?: () => Date
  /** Random UUID. */
  readonly newId?: () => string
  /** Default `crypto.getRandomValues`. */
  readonly random?: (bytes: number) => Uint8Array
  /**
   * How long a change made by another process may stay unseen, in milliseconds; 0 (default) to 5,000. A store with `news` is seen
   * at once, and read every time while its news is not heard.
   */
  readonly sessionCacheMs?: number
  /** Scopes of the host's own, which sessions may have besides those of OpenID Connect and SMART. Default: none. */
  readonly customScopes?: readonly string[]
  /** How long `close` waits for the store, in milliseconds. Default 8,000. */
  readonly closeMs?: number
  /** Told when noting the last use of a session failed. */
  readonly onFailure?: (error: unknown) => void
}

/**
 * Users, sessions and tokens. What one call has ended is refused by every call that starts after it, in every process on the same
 * store. Storage errors pass through.
 */
export interface Sessions {
  /**
   * Makes a session and its opaque token. A user who does not exist is made.
   *
   * @throws {TypeError} for a member that is missing, unknown, or of another type, and for a scope that does not exist.
   * @throws {OperationError} `forbidden` when the user is disabled or deleted.
   */
  create(session: NewSession): Promise<IssuedToken>
  /** @throws {OperationError} `token-invalid`, alike for every token that is not accepted. */
  verify(token: string): Promise<Principal>
  /** The principal of another issuer's token that was verified elsewhere. @throws {OperationError} `token-invalid` */
  adopt(token: ForeignToken, seen?: SeenCaller): Promise<Principal>
  /** The active sessions of a user, newest first, at most 1,000. */
  list(sub: string): Promise<readonly SessionRecord[]>
  logout(principal: Principal, origin?: AuditOrigin): Promise<void>
  /** @throws {OperationError} `not-found`, alike for an unknown login id and for another user's. */
  revoke(revocation: Revocation, origin?: AuditOrigin): Promise<void>
  /** Ends all sessions of the caller but this one; how many there were. */
  revokeOthers(principal: Principal, origin?: AuditOrigin): Promise<number>
  /** @throws {OperationError} `not-found` */
  signOutEverywhere(sub: string, origin?: AuditOrigin): Promise<void>
  /** Ends what another issuer says has ended (back-channel logout): one session of its, or all of a user. */
  endLogin(ended: EndedLogin, origin?: AuditOrigin): Promise<void>
  /** False when the session is not active. */
  disable(loginId: string): Promise<boolean>
  /** False when the session is not disabled. */
  enable(loginId: string): Promise<boolean>
  /** False when there is no such session. */
  delete(loginId: string): Promise<boolean>
  /** @throws {OperationError} `not-found` */
  disableUser(sub: string): Promise<void>
  /** Sessions from before stay refused. @throws {OperationError} `not-found` */
  enableUser(sub: string): Promise<void>
  /** @throws {OperationError} `not-found` */
  deleteUser(sub: string): Promise<void>
  /** True the first time that a key, such as the id of a proof, is used within `ms` milliseconds, by any process on the same store. 0 only asks. */
  useOnce(key: string, ms: number): Promise<boolean>
  /** Forgets sessions that expired more than 30 days ago; how many there were. */
  purge(): Promise<number>
  /** Records an audit event in the way that these options say. */
  audit(entry: AuditEntry): Promise<void>
  /**
   * Waits for writes under way, and stores ends of sessions that could not be stored before. The store stays open.
   *
   * @throws as the store, when an end still cannot be stored: other processes accept that session; `storage-timeout` when the store takes longer than
   *   `closeMs`, which names the ends that are not stored.
   */
  close(): Promise<void>
}

const MAX_LISTED = 1_000
const MAX_CACHE_MS = 5_000
const CLOSE_MS = 8_000

const SHAPE: InputShape = inputShape<SessionsOptions>({
  store: needed(having('a session store', ['addSession', 'session', 'user'])),
  now: CLOCK,
  newId: FUNCTION,
  random: FUNCTION,
  sessionCacheMs: AMOUNT,
  closeMs: AMOUNT,
  customScopes: listOf(TEXT),
  onFailure: FUNCTION,
  onAudit: FUNCTION,
  auditMode: oneOf('best-effort', 'required'),
  onAuditFailure: FUNCTION,
})

/** Makes the session service over a store. @throws {TypeError} for an option that is missing, unknown, or of another type. */
export function createSessions(options: SessionsOptions): Sessions {
  const pending = new Set<Promise<unknown>>()
  const services = servicesOf(options, pending)
  return {
    create: (session) => createSession(services, session),
    verify: (token) => verifyToken(services, token),
    adopt: (token, seen = {}) => adoptForeign(services, token, seen),
    list: (sub) => listActive(services, sub),
    logout: (principal, origin) => logout(services, principal, origin),
    revoke: (revocation, origin) => revoke(services, revocation, origin),
    revokeOthers: (principal, origin) => revokeOthers(services, principal, origin),
    signOutEverywhere: (sub, origin) => signOutEverywhere(services, sub, origin),
    endLogin: (ended, origin) => endLogin(services, ended, origin),
    disable: (loginId) => setSessionState(services, loginId, 'disabled'),
    enable: (loginId) => setSessionState(services, loginId, 'active'),
    delete: (loginId) => setSessionState(services, loginId, 'deleted'),
    disableUser: (sub) => setUserState(services, sub, 'disabled'),
    enableUser: (sub) => setUserState(services, sub, 'active'),
    deleteUser: (sub) => setUserState(services, sub, 'deleted'),
    useOnce: (key, ms) => services.store.useOnce(sha256(key), { now: services.now(), until: services.now() + ms }),
    purge: () => services.store.purge(services.now() - KEEP_EXPIRED_MS),
    audit: services.audit,
    close: () => closed(services, pending, options.closeMs ?? CLOSE_MS),
  }
}

/** Waits for what is to be stored, not longer than `closeMs`. */
async function closed({ refused }: SessionServices, pending: ReadonlySet<Promise<unknown>>, closeMs: number): Promise<void> {
  const stored = async (): Promise<void> => {
    await refused.close()
    await Promise.all(pending)
  }
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(notStored(refused.unstored(), pending.size)), closeMs)
  try {
    await Promise.race([stored(), promise])
  } finally {
    clearTimeout(timer)
  }
}

function notStored(ends: readonly string[], uses: number): OperationError {
  const endsLost = ends.length === 0 ? [] : [`the end of ${ends.join(', ')}, which other processes accept`]
  const usesLost = uses === 0 ? [] : [`when ${uses} sessions were last used`]
  return new OperationError(
    'storage-timeout',
    `The store of sessions did not answer in time. It may lack ${[...endsLost, ...usesLost].join('; and ')}.`,
  )
}

function servicesOf(options: SessionsOptions, pending: Set<Promise<unknown>>): SessionServices {
  checkOptions('createSessions', SHAPE, options)
  const { store, sessionCacheMs = 0, onFailure = () => {} } = options
  if (!(sessionCacheMs >= 0 && sessionCacheMs <= MAX_CACHE_MS)) throw new TypeError('sessionCacheMs must be 0 to 5,000.')
  const clock = options.now ?? (() => new Date())
  const now = (): number => clock().getTime()
  return {
    store,
    now,
    newId: options.newId ?? (() => crypto.randomUUID()),
    random: options.random ?? ((bytes) => crypto.getRandomValues(new Uint8Array(bytes))),
    audit: createAudit(options, clock),
    customScopes: new Set(options.customScopes),
    known: knownSessions(sessionCacheMs, store.news),
    refused: refusedSessions(now),
    noted: notedUses(),
    background(work) {
      const running = work()
        .catch(onFailure)
        .finally(() => pending.delete(running))
      pending.add(running)
    },
  }
}

async function listActive(services: SessionServices, sub: string): Promise<readonly SessionRecord[]> {
  const user = await services.store.user(sub)
  // Expired ones are kept for days: asked for, they would leave no room for an old session that is still active.
  const sessions = await services.store.sessionsOf(sub, MAX_LISTED, { state: 'active', expiresAfter: services.now() })
  return sessions.filter((session) => isActive(services, { session, user }))
}
