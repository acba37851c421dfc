import { OperationError, quoted } from '../errors/index.js'
import type { SessionRecord, SessionState, UserRecord } from '../storage/index.js'
import type { AuditOrigin, AuditEntry } from './audit.js'
import { foreignDigest } from './issue.js'
import type { Principal } from './verify.js'
import type { EndedSessions } from './refused-sessions.js'
import { rejected, type SessionServices } from './state.js'

/** Ends the caller's own session. @throws {OperationError} `token-invalid` when another request has already ended it. */
export async function logout(services: SessionServices, principal: Principal, origin: AuditOrigin = {}): Promise<void> {
  const event = { ...auditOf(principal, origin), type: 'logout', outcome: 'success' } as const
  const isEnded = await endSession(services, principal, { state: 'logged-out', event })
  if (!isEnded) throw rejected('logged-out')
}

/**
 * Ends one session of the caller by its login id. Succeeds for a session that has already ended, while its record is kept.
 *
 * @throws {OperationError} `not-found`, both for an unknown login id and for that of another user.
 */
export async function revoke(services: SessionServices, { principal, loginId }: Revocation, origin: AuditOrigin = {}): Promise<void> {
  const session = await services.store.session(loginId)
  if (session?.sub !== principal.sub) {
    const reason = session === undefined ? 'unknown' : 'other-subject'
    await services.audit({ ...auditOf(principal, origin), loginId: undefined, type: 'revoke-denied', outcome: 'refused', reason })
    throw new OperationError('not-found', 'There is no such session.')
  }
  if (loginId === principal.loginId) return logout(services, principal, origin)
  const event = { ...auditOf(principal, origin), loginId, type: 'session-revoked', outcome: 'success' } as const
  await endSession(services, session, { state: 'revoked', event })
}

/** The session to end, and the caller. */
export interface Revocation {
  readonly principal: Principal
  readonly loginId: string
}

/** Ends all sessions of the caller except the one in use. Returns their number. */
export async function revokeOthers(services: SessionServices, principal: Principal, origin: AuditOrigin = {}): Promise<number> {
  const { sub, loginId } = principal
  const event = { ...auditOf(principal, origin), loginId: undefined, type: 'session-revoked', outcome: 'success' } as const
  return failingClosed(services, { allOf: sub, except: loginId }, async () => {
    const ended = await services.store.endOthers(sub, loginId)
    if (ended > 0) await services.audit(event)
    return ended
  })
}

/** Ends all existing sessions of the user on every instance, independent of clocks. @throws {OperationError} `not-found` for an unknown user. */
export async function signOutEverywhere(services: SessionServices, sub: string, origin: AuditOrigin = {}): Promise<void> {
  const at = services.now()
  let user: UserRecord | undefined
  const end = async (): Promise<UserRecord | undefined> => {
    // Raised only once: raising again would end sessions created since.
    user ??= await services.store.raiseEpoch(sub, at)
    if (user !== undefined) await services.audit({ ...origin, sub, type: 'global-sign-out', outcome: 'success' })
    return user
  }
  await userChange(services, sub, () => failingClosed(services, { allOf: sub }, end))
}

/** A login that has ended at another issuer: a single session there, or all sessions of a user. */
export interface EndedLogin {
  readonly issuer: string
  readonly sub?: string | undefined
  /** Id of the session at the issuer. */
  readonly sid?: string | undefined
}

/**
 * Ends the session that another issuer reports as ended, by its `sid`. If there is no such session, ends all sessions of the user, because tokens of
 * that login may still arrive. Does nothing if the user is unknown, too.
 */
export async function endLogin(services: SessionServices, { issuer, sub, sid }: EndedLogin, origin: AuditOrigin = {}): Promise<void> {
  const session = sid === undefined ? undefined : await services.store.sessionByDigest(await foreignDigest(issuer, `sid:${sid}`))
  if (session !== undefined) {
    const event = { ...auditOf(session, origin), type: 'logout', outcome: 'success', reason: 'back-channel' } as const
    await endSession(services, session, { state: 'logged-out', event })
    return
  }
  if (sub !== undefined && (await services.store.user(sub)) !== undefined) await signOutEverywhere(services, sub, origin)
}

/** Disables, deletes or re-enables a user. Earlier sessions stay refused. @throws {OperationError} `not-found` for an unknown user. */
export async function setUserState(services: SessionServices, sub: string, state: UserRecord['state']): Promise<void> {
  await userChange(services, sub, () => services.store.setUserState(sub, state, services.now()))
  if (state !== 'active') await services.audit({ sub, type: 'global-sign-out', outcome: 'success', reason: `user-${state}` })
}

/** States that a session can be set to by its login id, and from which states. */
const CHANGES: Readonly<Record<'disabled' | 'active' | 'deleted', readonly SessionState[]>> = {
  disabled: ['active'],
  active: ['disabled'],
  deleted: ['active', 'disabled', 'revoked', 'logged-out'],
}

/** Disables, enables or deletes a session. Returns false if its state does not allow that, or if it does not exist. */
export async function setSessionState(services: SessionServices, loginId: string, state: keyof typeof CHANGES): Promise<boolean> {
  services.known.forget()
  const changed = await services.store.changeSession(loginId, CHANGES[state], { state })
  services.known.forget()
  return changed !== undefined
}

interface SessionEnd {
  readonly state: 'revoked' | 'logged-out'
  readonly event: AuditEntry
}

/** Ends a session. Returns false if it had already ended. */
async function endSession(
  services: SessionServices,
  session: Pick<SessionRecord, 'loginId' | 'expiresAt'>,
  { state, event }: SessionEnd,
): Promise<boolean> {
  return failingClosed(services, session, async () => {
    const ended = await services.store.changeSession(session.loginId, ['active', 'disabled'], { state })
    if (ended !== undefined) await services.audit(event)
    return ended !== undefined
  })
}

/** Refuses the sessions in this process immediately. If their end cannot be stored, they stay refused, and storing is retried. */
async function failingClosed<T>(services: SessionServices, sessions: EndedSessions, end: () => Promise<T>): Promise<T> {
  const store = async (): Promise<T> => {
    services.known.forget()
    try {
      return await end()
    } finally {
      services.known.forget()
    }
  }
  const settled = services.refused.hold(sessions)
  try {
    return await store()
  } catch (error) {
    services.refused.add(sessions, store)
    throw error
  } finally {
    settled()
  }
}

async function userChange(services: SessionServices, sub: string, change: () => Promise<UserRecord | undefined>): Promise<void> {
  services.known.forget()
  const changed = await change()
  services.known.forget()
  if (changed === undefined) throw new OperationError('not-found', `There is no user with the subject ${quoted(sub)}.`)
}

function auditOf(
  { sub, client, loginId }: Pick<Principal, 'sub' | 'client' | 'loginId'>,
  origin: AuditOrigin,
): Pick<AuditEntry, 'sub' | 'client' | 'loginId' | 'requestId' | 'remoteHost'> {
  return { ...origin, sub, client, loginId }
}
