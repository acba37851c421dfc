import {
  AMOUNT,
  checkArgument,
  checkOptions,
  CLOCK,
  FUNCTION,
  having,
  inputShape,
  listOf,
  needed,
  objectWith,
  oneOf,
  TEXT,
  type InputShape,
  type MemberKind,
} from '../input/index.js'
import { OperationError } from '../errors/index.js'
import { ownCopy } from '../json/index.js'
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
import { knownSessions, notedUses, type SessionServices, sha256 } from './state.js'

/** Options of `createSessions`. */
export interface SessionsOptions extends AuditOptions {
  readonly store: SessionStore
  readonly now?: () => Date
  /** Returns a random UUID. */
  readonly newId?: () => string
  /** Returns random bytes. Default `crypto.getRandomValues`. */
  readonly random?: (bytes: number) => Uint8Array
  /**
   * How long changes by other processes may stay unnoticed, in milliseconds: 0 (default) to 5,000. With a store that has `news`, changes are noticed
   * immediately, and the store is read every time while its news are not heard.
   */
  readonly sessionCacheMs?: number
  /** Scopes of the host, which sessions may have besides those of OpenID Connect and SMART. Default: none. */
  readonly customScopes?: readonly string[]
  /** Maximum time that `close` waits for the store, in milliseconds. Default 8,000. */
  readonly closeMs?: number
  /** Called when the time of a session's last use could not be stored. */
  readonly onFailure?: (error: unknown) => void
}

/**
 * Manages users, sessions and tokens. A session that a call has ended is refused by every later call, in every process on the same
 * store. Storage errors are passed on.
 */
export interface Sessions {
  /**
   * Creates a session and its opaque token. Creates the user if there is none yet.
   *
   * @throws {TypeError} for a member that is missing, unknown, or of the wrong type, and for an unknown scope.
   * @throws {OperationError} `forbidden` when the user is disabled or deleted.
   */
  create(session: NewSession): Promise<IssuedToken>
  /** Returns the principal of a token. @throws {OperationError} `token-invalid`, with the same message for every token that is not accepted. */
  verify(token: string): Promise<Principal>
  /** Returns the principal of another issuer's token that was verified elsewhere. @throws {OperationError} `token-invalid` when it is not accepted. */
  adopt(token: ForeignToken, seen?: SeenCaller): Promise<Principal>
  /** Lists the active sessions of a user, newest first, at most 1,000. */
  list(sub: string): Promise<readonly SessionRecord[]>
  /** True if the token of the session would be accepted. */
  isActive(loginId: string): Promise<boolean>
  /** Ends the caller's own session. @throws {OperationError} `token-invalid` when it has already ended. */
  logout(principal: Principal, origin?: AuditOrigin): Promise<void>
  /** Ends a session of the caller. @throws {OperationError} `not-found`, both for an unknown login id and for that of another user. */
  revoke(revocation: Revocation, origin?: AuditOrigin): Promise<void>
  /** Ends all other sessions of the caller. Returns their number. */
  revokeOthers(principal: Principal, origin?: AuditOrigin): Promise<number>
  /** Ends all sessions of a user. @throws {OperationError} `not-found` for an unknown user. */
  signOutEverywhere(sub: string, origin?: AuditOrigin): Promise<void>
  /** Ends the sessions that another issuer reports as ended (back-channel logout): one session, or all of a user. */
  endLogin(ended: EndedLogin, origin?: AuditOrigin): Promise<void>
  /** Disables a session. Returns false if it is not active. */
  disable(loginId: string): Promise<boolean>
  /** Enables a disabled session. Returns false if it is not disabled. */
  enable(loginId: string): Promise<boolean>
  /** Deletes a session. Returns false if there is no such session. */
  delete(loginId: string): Promise<boolean>
  /** Disables a user and ends all sessions. @throws {OperationError} `not-found` for an unknown user. */
  disableUser(sub: string): Promise<void>
  /** Enables a disabled user; earlier sessions stay refused. @throws {OperationError} `not-found` for an unknown user. */
  enableUser(sub: string): Promise<void>
  /** Deletes a user and ends all sessions. @throws {OperationError} `not-found` for an unknown user. */
  deleteUser(sub: string): Promise<void>
  /** Records the use of a key (such as the id of a proof) for `ms` milliseconds. True for its first use by any process on the same store; 0 only asks. */
  useOnce(key: string, ms: number): Promise<boolean>
  /** Deletes sessions that expired more than 30 days ago. Returns their number. */
  purge(): Promise<number>
  /** Records an audit event, as the audit options define. */
  audit(entry: AuditEntry): Promise<void>
  /**
   * Waits for running writes, and tries again to store ends of sessions that could not be stored before. The store stays open.
   *
   * @throws as the store, when an end still cannot be stored, so that other processes accept that session; `storage-timeout` when the store takes longer
   *   than `closeMs`: the message names the ends that are not stored.
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

/** Creates the session service over a store. @throws {TypeError} for an option that is missing, unknown, or of the wrong type. */
export function createSessions(options: SessionsOptions): Sessions {
  const pending = new Set<Promise<unknown>>()
  const services = servicesOf(options, pending)
  return {
    create: (session) => createSession(services, session),
    verify: (token) => verifyToken(services, token),
    adopt: (token, seen = {}) => adoptForeign(services, token, seen),
    list: async (sub) => listActive(services, text('list: sub', sub)),
    isActive: async (loginId) => isSessionActive(services, text('isActive: loginId', loginId)),
    logout: async (principal, origin) => logout(services, principalOf('logout', principal), origin),
    revoke: async (revocation, origin) => {
      checkOptions('sessions.revoke', REVOCATION, revocation)
      await revoke(services, revocation, origin)
    },
    revokeOthers: async (principal, origin) => revokeOthers(services, principalOf('revokeOthers', principal), origin),
    signOutEverywhere: async (sub, origin) => signOutEverywhere(services, text('signOutEverywhere: sub', sub), origin),
    endLogin: async (ended, origin) => {
      checkOptions('sessions.endLogin', ENDED_LOGIN, ended)
      if (ended.sub === undefined && ended.sid === undefined) throw new TypeError('sessions.endLogin: sub or sid is needed.')
      await endLogin(services, ended, origin)
    },
    disable: async (loginId) => setSessionState(services, text('disable: loginId', loginId), 'disabled'),
    enable: async (loginId) => setSessionState(services, text('enable: loginId', loginId), 'active'),
    delete: async (loginId) => setSessionState(services, text('delete: loginId', loginId), 'deleted'),
    disableUser: async (sub) => setUserState(services, text('disableUser: sub', sub), 'disabled'),
    enableUser: async (sub) => setUserState(services, text('enableUser: sub', sub), 'active'),
    deleteUser: async (sub) => setUserState(services, text('deleteUser: sub', sub), 'deleted'),
    useOnce: async (key, ms) => {
      checkArgument('sessions.useOnce: ms', ms, AMOUNT)
      const now = services.now()
      return services.store.useOnce(await sha256(text('useOnce: key', key)), { now, until: now + ms })
    },
    purge: () => services.store.purge(services.now() - KEEP_EXPIRED_MS),
    audit: services.audit,
    close: () => closed(services, pending, options.closeMs ?? CLOSE_MS),
  }
}

const PRINCIPAL: MemberKind = objectWith('a principal, as verify returns it', { sub: needed(TEXT), loginId: needed(TEXT) })
const REVOCATION: InputShape = inputShape<Revocation>({ principal: needed(PRINCIPAL), loginId: needed(TEXT) })
const ENDED_LOGIN: InputShape = inputShape<EndedLogin>({ issuer: needed(TEXT), sub: TEXT, sid: TEXT })

/** Returns an argument that must be a text: the store would find no user and no session by anything else, and nothing would be ended. */
function text(place: string, value: string): string {
  checkArgument(`sessions.${place}`, value, TEXT)
  return value
}

function principalOf(method: string, principal: Principal): Principal {
  checkArgument(`sessions.${method}: principal`, principal, PRINCIPAL)
  return principal
}

/** Waits for pending writes, at most `closeMs`. */
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

async function isSessionActive(services: SessionServices, loginId: string): Promise<boolean> {
  const session = await services.store.session(loginId)
  return session !== undefined && isActive(services, { session, user: await services.store.user(session.sub) })
}

async function listActive(services: SessionServices, sub: string): Promise<readonly SessionRecord[]> {
  const user = await services.store.user(sub)
  // Expired sessions are kept for days; if they were included, they could displace an old session that is still active.
  const sessions = await services.store.sessionsOf(sub, MAX_LISTED, { state: 'active', expiresAfter: services.now() })
  return ownCopy(sessions.filter((session) => isActive(services, { session, user })))
}
