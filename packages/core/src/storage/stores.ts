/** A user of the service, as shown by the user-information endpoint. */
export interface UserRecord {
  /** Subject identifier, unique within the service. */
  readonly sub: string
  /** Standard OpenID Connect claims by name; absent claims are left out. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Only an `active` user's sessions grant access. */
  readonly state: 'active' | 'disabled' | 'deleted'
  /** Raised by a global sign-out, by disabling and by deleting the user; sessions with a lower epoch are refused. */
  readonly epoch: number
  /** When the epoch was last raised, in milliseconds since 1970; 0 when never. */
  readonly epochRaisedAt: number
}

/** Only an `active` session grants access; a `disabled` one can become active again. */
export type SessionState = 'active' | 'revoked' | 'logged-out' | 'disabled' | 'deleted'

/** A session. The token is not stored, only its digest. Times are milliseconds since 1970. */
export interface SessionRecord {
  /** Random UUID; not a secret: it grants nothing without the owner's token. */
  readonly loginId: string
  /** Subject identifier of the user. */
  readonly sub: string
  /** SHA-256 of the token (or of issuer and `jti`/`sid` for a foreign JWT), lower-case hex. */
  readonly digest: string
  readonly state: SessionState
  /** The user's epoch when the session was created. */
  readonly epoch: number
  /** Granted scopes. */
  readonly scopes: readonly string[]
  /** `User-Agent` of the client that started the session. */
  readonly userAgent?: string
  /** Address of the client that started the session. */
  readonly remoteHost?: string
  /** Method of authentication, for the session list. */
  readonly authMethod?: string
  /** Id of the client that the token was issued to. */
  readonly client?: string
  /** Project whose bots may be called, if only of one. */
  readonly project?: string
  /** Id of the Patient that the session is about. */
  readonly patient?: string
  readonly createdAt: number
  /** Updated at most once a minute. */
  readonly lastUsedAt: number
  readonly expiresAt: number
}

/** A session with its user. */
export interface KnownSession {
  readonly session: SessionRecord
  readonly user: UserRecord | undefined
}

/** The members of a session to change. */
export interface SessionChange {
  readonly state?: SessionState
  readonly lastUsedAt?: number
  /** Changes when another token of the same session of a foreign issuer is seen. */
  readonly expiresAt?: number
}

/** Reports changes of users and sessions, so that cached records can be dropped. */
export interface SessionNews {
  /** True while changes by other processes are reported. While false, cached records must not be used. */
  readonly heard: boolean
  /** Registers a listener that is called soon after every change by any process, and whenever `heard` changes. */
  onChange(listener: () => void): void
}

/** Filters the sessions of a user; an absent member does not filter. */
export interface WantedSessions {
  readonly state?: SessionState | undefined
  /** Only sessions that expire after this time, in milliseconds since 1970. */
  readonly expiresAfter?: number | undefined
}

/**
 * Stores users and sessions separately from resources: searches do not find them. Every change is durable when its promise resolves, and visible to
 * the next call of every process on the same storage. Errors as in `Storage`.
 */
export interface SessionStore {
  /** Absent where changes by other processes are not reported. */
  readonly news?: SessionNews
  user(sub: string): Promise<UserRecord | undefined>
  /** Creates the user, or replaces the claims of an existing one, whose state and epoch stay. */
  putUser(sub: string, claims: Readonly<Record<string, unknown>>): Promise<UserRecord>
  /** Sets the state and, unless it becomes `active`, raises the epoch in the same change. `undefined` when there is no such user. */
  setUserState(sub: string, state: UserRecord['state'], at: number): Promise<UserRecord | undefined>
  /** Raises the epoch by one, so that all earlier sessions are refused. `undefined` when there is no such user. */
  raiseEpoch(sub: string, at: number): Promise<UserRecord | undefined>

  /** Adds a session. @throws {OperationError} `conflict` when its loginId or digest exists. */
  addSession(session: SessionRecord): Promise<void>
  session(loginId: string): Promise<SessionRecord | undefined>
  sessionByDigest(digest: string): Promise<SessionRecord | undefined>
  /** `sessionByDigest` and `user` in one call; absent where two calls cost no more. */
  knownByDigest?(digest: string): Promise<KnownSession | undefined>
  /** Returns the stored sessions of the user that pass `wanted`, newest first (`createdAt`, then `loginId`), at most `limit`. */
  sessionsOf(sub: string, limit: number, wanted?: WantedSessions): Promise<readonly SessionRecord[]>
  /** Applies the change if the session is in one of the states `from`. Returns the changed record, or `undefined` when nothing changed. */
  changeSession(loginId: string, from: readonly SessionState[], change: SessionChange): Promise<SessionRecord | undefined>
  /** Sets all active or disabled sessions of the user except `except` to `revoked`. Returns their number. */
  endOthers(sub: string, except: string): Promise<number>
  /** Records the use of a key until `until` (milliseconds since 1970). Returns true for the first use only; concurrent uses included. */
  useOnce(key: string, time: { readonly now: number; readonly until: number }): Promise<boolean>
  /** Deletes sessions that expired before `expiredBefore`. Returns their number. */
  purge(expiredBefore: number): Promise<number>
}

/** Describes one version of a code system that is stored in sections. */
export interface SystemToStore {
  readonly url: string
  readonly version: string
  /** Layout of the sections, for example `snomed-1`; readers skip formats that they do not know. */
  readonly format: string
  /** Number of concepts, for information; below 2 ** 31. */
  readonly concepts: number
  /** JSON text; the format defines its content. */
  readonly header: string
}

/** A published version of a code system. */
export interface StoredSystem extends SystemToStore {
  /** Identity for caches: the same key always means the same content, in every storage. */
  readonly key: string
}

/** The content of a published version as named sections of bytes. They are read when needed, even while a new version replaces this one. */
export interface SystemSections {
  /**
   * Returns a section synchronously; an adapter that can only read asynchronously reads all sections in `open`. The bytes must not be changed.
   *
   * @throws {OperationError} `storage-damaged` when there is no such section; `storage-unavailable` when the version has been removed.
   */
  section(name: string): Uint8Array
}

/**
 * A version that is being written and is not visible yet. It ends when it is published or discarded, or when another import of the same version
 * begins; from then on `put` and `publish` are refused with `conflict`.
 */
export interface StagedSystem {
  /** Stores a section, or replaces the one with the same name. The bytes must not be changed afterwards. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Publishes all sections atomically. They replace any version published under the same url and version. */
  publish(): Promise<StoredSystem>
  /** Deletes the stored sections. */
  discard(): Promise<void>
}

/**
 * Stores code systems that are too large to be one resource. Each version is imported once, never changed, and stored as prebuilt sections, which an
 * engine reads without rebuilding anything. Errors as in `Storage`.
 */
export interface ConceptStore {
  /** Lists the published versions of all systems, in ascending order of url and version. */
  systems(): Promise<readonly StoredSystem[]>
  /** Opens a published version. @throws {OperationError} `storage-unavailable` when the version no longer exists. */
  open(key: string): Promise<SystemSections>
  /**
   * Begins the import of a version. Deletes the remains of an earlier, unfinished import of the same version; an adapter with persistent storage also
   * deletes the remains of any import that is more than a day old.
   */
  stage(system: SystemToStore): Promise<StagedSystem>
  /** Removes a published version; removing what does not exist succeeds. */
  remove(key: string): Promise<void>
  /** As `Storage.revision`, for the published versions. */
  readonly revision?: (() => number | Promise<number>) | undefined
}
