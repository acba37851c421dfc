import { OperationError } from '../errors/index.js'
import { checkOptions, inputShape, listOf, needed, TEXT, type InputShape, type MemberKind } from '../input/index.js'
import { isObject } from '../json/index.js'
import { isResourceId, isResourceType, resourceTypes, type SessionRecord, type UserRecord } from '../storage/index.js'
import { didYouMean, nearest } from '../text/index.js'
import type { Awaitable } from '../work/index.js'
import { rejected, type SessionServices, newToken, sha256 } from './state.js'
import { accepted, knownSession, type Principal } from './verify.js'

/** A user by subject identifier, or with claims that replace the stored ones. */
export type SessionUser = string | { readonly sub: string; readonly [claim: string]: unknown }

/** Input of `Sessions.create`. */
export interface NewSession {
  readonly user: SessionUser
  /** Default `openid profile email`. */
  readonly scopes?: readonly string[] | undefined
  /** `User-Agent` of the client, for the session list. */
  readonly userAgent?: string | undefined
  /** Address of the client, for the session list. */
  readonly remoteHost?: string | undefined
  /** Lifetime in seconds, at most 100 years. Default: one hour. */
  readonly ttl?: number | undefined
  /** Project of the user; then only its bots can be called. */
  readonly project?: string | undefined
  /** Id of the client that gets the token. */
  readonly client?: string | undefined
  /** Id of the Patient that `patient/` scopes apply to; when absent, these scopes grant nothing. */
  readonly patient?: string | undefined
  /** Method of authentication, for the session list. */
  readonly authMethod?: string | undefined
}

/** A new token. It is shown only once: only its digest is stored. */
export interface IssuedToken {
  /** The bearer token. */
  readonly token: string
  /** Id of the session, by which its user can revoke it. */
  readonly loginId: string
  /** Instant in UTC. */
  readonly expiresAt: string
}

/** Content of a verified token of another issuer. */
export interface ForeignToken {
  /** Identifier of the issuer (`iss`). */
  readonly issuer: string
  /** Subject identifier of the user at the issuer. */
  readonly sub: string
  /** Identifies its session at the issuer: `sid:...`, otherwise `jti:...`, otherwise `token:` and a digest of what is signed, or of an opaque token. */
  readonly sessionKey: string
  /** Milliseconds since 1970. */
  readonly issuedAt: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Granted scopes. */
  readonly scopes: readonly string[]
  /** Claims about the user; may be empty. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Id of the client that the token was issued to. */
  readonly client?: string | undefined
  /** Project of the user; then only its bots can be called. */
  readonly project?: string | undefined
  /** Id of the Patient that `patient/` scopes apply to. */
  readonly patient?: string | undefined
}

/** Information about the caller when a session begins. */
export interface SeenCaller {
  readonly userAgent?: string | undefined
  readonly remoteHost?: string | undefined
}

const DEFAULT_SCOPES: readonly string[] = ['openid', 'profile', 'email']
const DEFAULT_TTL_SECONDS = 3_600
/** Hundred years. */
const MAX_TTL_SECONDS = 100 * 365.25 * 86_400
const MAX_SUB = 255
const MAX_USER_AGENT = 256

/** Creates a session. @throws {TypeError} for an invalid input. @throws {OperationError} `forbidden` when the user is not active. */
export async function createSession(services: SessionServices, input: NewSession): Promise<IssuedToken> {
  checkSession(services, input)
  // What was checked is what is granted, whatever the caller does with the list meanwhile.
  const given = { ...input, scopes: [...(input.scopes ?? DEFAULT_SCOPES)] }
  const user = await userFor(services, input.user)
  if (user.state !== 'active') throw new OperationError('forbidden', 'The user is disabled or deleted.')
  const token = newToken(services.random)
  const now = services.now()
  const session = sessionRecord(services, {
    ...given,
    user,
    digest: await sha256(token),
    expiresAt: now + (given.ttl ?? DEFAULT_TTL_SECONDS) * 1_000,
  })
  await services.store.addSession(session)
  await auditCreation(services, session)
  return { token, loginId: session.loginId, expiresAt: new Date(session.expiresAt).toISOString() }
}

/**
 * Returns the principal of another issuer's token. Its session is recorded at first use, so that it can be listed and revoked. Scopes and expiry are
 * those of this token, whatever other tokens of the same session grant.
 */
export async function adoptForeign(services: SessionServices, token: ForeignToken, seen: SeenCaller): Promise<Principal> {
  const digest = await foreignDigest(token.issuer, token.sessionKey)
  const known = (await knownSession(services, digest)) ?? (await recorded(services, { ...seen, token, digest }))
  if (known.session.sub !== token.sub) throw rejected('other-subject')
  const session = { ...known.session, expiresAt: Math.max(known.session.expiresAt, token.expiresAt) }
  const principal = accepted(services, { ...known, session })
  if (session.expiresAt > known.session.expiresAt) await extend(services, session)
  const { scopes, expiresAt, patient, project, client } = token
  return { ...principal, scopes, expiresAt, patient, project, client }
}

/** Returns the digest by which the session of another issuer's token is found. */
export function foreignDigest(issuer: string, sessionKey: string): Awaitable<string> {
  return sha256(JSON.stringify([issuer, sessionKey]))
}

interface FirstSight extends SeenCaller {
  readonly token: ForeignToken
  readonly digest: string
}

async function recorded(
  services: SessionServices,
  { token, digest, ...seen }: FirstSight,
): Promise<{ session: SessionRecord; user: UserRecord }> {
  const stored = await services.store.user(token.sub)
  refuseSignedOut(stored, token)
  const user = stored ?? (await services.store.putUser(token.sub, token.claims))
  const session = sessionRecord(services, { ...seen, ...token, user, digest, authMethod: token.issuer })
  try {
    await services.store.addSession(session)
  } catch (error) {
    return secondSight(services, digest, error)
  }
  await auditCreation(services, session)
  return { session, user }
}

/** Reads the session that another request with the same token has recorded meanwhile. */
async function secondSight(
  services: SessionServices,
  digest: string,
  error: unknown,
): Promise<{ session: SessionRecord; user: UserRecord }> {
  const session = error instanceof OperationError && error.code === 'conflict' ? await services.store.sessionByDigest(digest) : undefined
  const user = session === undefined ? undefined : await services.store.user(session.sub)
  if (session === undefined || user === undefined) throw error
  return { session, user }
}

/** Refuses a token issued in or before the second of the last global sign-out, because issue times of tokens are in whole seconds. */
function refuseSignedOut(user: UserRecord | undefined, token: ForeignToken): void {
  if (user === undefined || user.epochRaisedAt === 0) return
  if (Math.floor(token.issuedAt / 1_000) <= Math.floor(user.epochRaisedAt / 1_000)) throw rejected('signed-out')
}

async function extend(services: SessionServices, session: SessionRecord): Promise<void> {
  services.known.forget()
  await services.store.changeSession(session.loginId, ['active'], { expiresAt: session.expiresAt })
}

async function userFor(services: SessionServices, user: SessionUser): Promise<UserRecord> {
  if (typeof user === 'string') return (await services.store.user(user)) ?? services.store.putUser(user, {})
  const { sub, ...claims } = user
  return services.store.putUser(sub, claims)
}

interface SessionParts extends SeenCaller {
  readonly user: UserRecord
  readonly digest: string
  readonly scopes: readonly string[]
  readonly expiresAt: number
  readonly authMethod?: string | undefined
  readonly client?: string | undefined
  readonly project?: string | undefined
  readonly patient?: string | undefined
}

function sessionRecord(services: SessionServices, parts: SessionParts): SessionRecord {
  const now = services.now()
  const { user, digest, scopes, expiresAt, userAgent, remoteHost, authMethod, client, project, patient } = parts
  return {
    loginId: services.newId(),
    sub: user.sub,
    digest,
    state: 'active',
    epoch: user.epoch,
    scopes,
    createdAt: now,
    lastUsedAt: now,
    expiresAt,
    ...(userAgent !== undefined && { userAgent: printable(userAgent) }),
    ...(remoteHost !== undefined && { remoteHost }),
    ...(authMethod !== undefined && { authMethod }),
    ...(client !== undefined && { client }),
    ...(project !== undefined && { project }),
    ...(patient !== undefined && { patient }),
  }
}

/** Removes control characters and shortens the text to 256 characters. */
function printable(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '')
    .slice(0, MAX_USER_AGENT)
    .toWellFormed()
}

function auditCreation(services: SessionServices, session: SessionRecord): Promise<void> {
  const { sub, loginId, client, remoteHost } = session
  return services.audit({ type: 'session-created', outcome: 'success', sub, loginId, client, remoteHost })
}

const USER: MemberKind = {
  words: 'a subject or an object with sub, 1 to 255 visible ASCII characters',
  is: (user) => isSubject(isObject(user) ? user['sub'] : user),
}

function isSubject(sub: unknown): boolean {
  return typeof sub === 'string' && /^[\x21-\x7e]+$/.test(sub) && sub.length <= MAX_SUB
}

const SHAPE: InputShape = inputShape<NewSession>({
  user: needed(USER),
  scopes: listOf(TEXT),
  userAgent: TEXT,
  remoteHost: TEXT,
  ttl: {
    words: 'a number of seconds above 0, and at most 100 years',
    is: (ttl) => typeof ttl === 'number' && ttl > 0 && ttl <= MAX_TTL_SECONDS,
  },
  project: TEXT,
  client: TEXT,
  patient: { words: 'the id of a Patient', is: (id) => typeof id === 'string' && isResourceId(id) },
  authMethod: TEXT,
})

function checkSession({ customScopes }: SessionServices, session: NewSession): void {
  checkOptions('sessions.create', SHAPE, session)
  const problem = session.scopes?.map((scope) => scopeProblem(scope, customScopes)).find((found) => found !== undefined)
  if (problem !== undefined) throw new TypeError(`sessions.create: ${problem}`)
}

/** Scopes of OpenID Connect and SMART App Launch that do not concern resources. */
const WORDS: readonly string[] = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
  'online_access',
  'fhirUser',
  'launch',
  'launch/patient',
  'launch/encounter',
]

const ABOUT_RESOURCES = /^(?:patient|user|system)\/([A-Za-z]+|\*)\.(?:read|write|\*|(?=[cruds])c?r?u?d?s?)(?:\?[\x21-\x7e]+)?$/

const FORM = "A scope of resources has a form such as 'system/*.cruds' or 'user/Patient.rs', with its letters in the order of cruds."

/**
 * Returns a sentence on why a scope does not exist, with the nearest existing one; `undefined` for an existing scope. Otherwise a misspelt scope would
 * be noticed only when it grants nothing.
 *
 * @param custom Scopes of the host's own.
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function scopeProblem(scope: string, custom: ReadonlySet<string> = new Set()): string | undefined {
  const type = ABOUT_RESOURCES.exec(scope)?.[1]
  if (WORDS.includes(scope) || custom.has(scope) || type === '*') return undefined
  if (type === undefined) return unknownScope(scope, nearest(scope, [...WORDS, ...custom]))
  if (isResourceType(type)) return undefined
  return withNearest(`the scope ${JSON.stringify(scope)} names no resource type.`, nearest(type, resourceTypes()))
}

function unknownScope(scope: string, near: readonly string[]): string {
  const problem = `there is no scope ${JSON.stringify(scope)}.`
  return near.length === 0 && scope.includes('/') ? `${problem} ${FORM}` : withNearest(problem, near)
}

function withNearest(problem: string, near: readonly string[]): string {
  return [problem, didYouMean(near) ?? []].flat().join(' ')
}
