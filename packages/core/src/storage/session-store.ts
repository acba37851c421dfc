/** A user of the service, as the user-information endpoint shows it. */
export interface UserRecord {
  readonly sub: string
  /** Standard OpenID Connect claims by name; absent claims are left out. */
  readonly claims: Readonly<Record<string, unknown>>
  readonly state: 'active' | 'disabled' | 'deleted'
  /** Raised by a global sign-out, by disabling and by deleting; sessions of a lower epoch are refused. */
  readonly epoch: number
  /** Milliseconds since 1970 of the last time the epoch was raised; 0 when never. */
  readonly epochRaisedAt: number
}

/** Only an `active` session opens anything; `disabled` ones can become active again. */
export type SessionState = 'active' | 'revoked' | 'logged-out' | 'disabled' | 'deleted'

/** One session. No token is kept, only its digest. Times are milliseconds since 1970. */
export interface SessionRecord {
  /** Random UUID; knowing it gives nothing without the owner's token. */
  readonly loginId: string
  readonly sub: string
  /** SHA-256 of the token (or of issuer and `jti`/`sid` for a foreign JWT), lower-case hex. */
  readonly digest: string
  readonly state: SessionState
  /** The user's epoch when the session was made. */
  readonly epoch: number
  readonly scopes: readonly string[]
  readonly userAgent?: string
  readonly remoteHost?: string
  readonly authMethod?: string
  readonly client?: string
  readonly project?: string
  /** Id of the Patient that the session is about. */
  readonly patient?: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
}

/** A session with its user. */
export interface KnownSession {
  readonly session: SessionRecord
  readonly user: UserRecord | undefined
}

/** The members of a session that change. */
export interface SessionChange {
  readonly state?: SessionState
  readonly lastUsedAt?: number
  /** Moved when another token of the same session of a foreign issuer is seen. */
  readonly expiresAt?: number
}

/** Tells that what was read of users and sessions may no longer hold. */
export interface SessionNews {
  /** Whether changes by other processes are heard of at present. While they are not, nothing that was read may be relied on. */
  readonly heard: boolean
  /** Calls the listener soon after every change by any process, and whenever `heard` changes. */
  onChange(listener: () => void): void
}

/** Which sessions of a user are wanted; what is absent does not matter. */
export interface WantedSessions {
  readonly state?: SessionState | undefined
  /** Those that end later than that: milliseconds since 1970. */
  readonly expiresAfter?: number | undefined
}

/**
 * Users and sessions, apart from resources: no search reaches them. Every change is durable when its promise resolves and is seen by
 * the next call of every process on the same storage. Errors as in `Storage`.
 */
export interface SessionStore {
  /** Absent where nothing reports changes by other processes. */
  readonly news?: SessionNews
  user(sub: string): Promise<UserRecord | undefined>
  /** Creates the user or replaces claims; state and epoch of an existing user stay. */
  putUser(sub: string, claims: Readonly<Record<string, unknown>>): Promise<UserRecord>
  /** Sets the state and, unless it becomes `active`, raises the epoch, at once. `undefined` when there is no such user. */
  setUserState(sub: string, state: UserRecord['state'], at: number): Promise<UserRecord | undefined>
  /** Raises the epoch by one: every session made before is refused. */
  raiseEpoch(sub: string, at: number): Promise<UserRecord | undefined>

  /** Adds a session. @throws {OperationError} `conflict` when its loginId or digest exists. */
  addSession(session: SessionRecord): Promise<void>
  session(loginId: string): Promise<SessionRecord | undefined>
  sessionByDigest(digest: string): Promise<SessionRecord | undefined>
  /** `sessionByDigest` with `user` in one call; absent where two calls cost no more. */
  knownByDigest?(digest: string): Promise<KnownSession | undefined>
  /** Every kept session of the user, or those that are wanted, newest first (`createdAt`, then `loginId`), at most `limit`. */
  sessionsOf(sub: string, limit: number, wanted?: WantedSessions): Promise<readonly SessionRecord[]>
  /** Applies the change when the session is in one of the states `from`; the record after it, or `undefined` when nothing changed. */
  changeSession(loginId: string, from: readonly SessionState[], change: SessionChange): Promise<SessionRecord | undefined>
  /** Sets every active or disabled session of the user but `except` to `revoked`; how many there were. */
  endOthers(sub: string, except: string): Promise<number>
  /** Notes that a key was used, which is remembered until then (milliseconds since 1970). True for one of all uses that are remembered. */
  useOnce(key: string, time: { readonly now: number; readonly until: number }): Promise<boolean>
  /** Forgets sessions that expired before `expiredBefore`; how many there were. */
  purge(expiredBefore: number): Promise<number>
}
