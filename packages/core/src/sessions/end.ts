import { OperationError, quoted } from '../errors/index.js'
import type { SessionRecord, SessionState, UserRecord } from '../storage/index.js'
import type { AuditOrigin, AuditEntry } from './audit.js'
import { foreignDigest } from './issue.js'
import type { Principal } from './verify.js'
import type { EndedSessions } from './refused-sessions.js'
import { rejected, type SessionServices } from './state.js'

/** Ends the caller's own session. @throws {OperationError} `token-invalid` when another request has ended it already. */
export async function logout(services: SessionServices, principal: Principal, origin: AuditOrigin = {}): Promise<void> {
  const event = { ...auditOf(principal, origin), type: 'logout', outcome: 'success' } as const
  const isEnded = await endSession(services, principal, { state: 'logged-out', event })
  if (!isEnded) throw rejected('logged-out')
}

/**
 * Ends one session of the caller by its login id. Ending an ended one succeeds while its record is kept.
 *
 * @throws {OperationError} `not-found`, alike for a login id that does not exist and for another user's.
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

/** Which session is to end, and who asks. */
export interface Revocation {
  readonly principal: Principal
  readonly loginId: string
}

/** Ends every session of the caller but the one in use; how many there were. */
export async function revokeOthers(services: SessionServices, principal: Principal, origin: AuditOrigin = {}): Promise<number> {
  const { sub, loginId } = principal
  const event = { ...auditOf(principal, origin), loginId: undefined, type: 'session-revoked', outcome: 'success' } as const
  return failingClosed(services, { allOf: sub, except: loginId }, async () => {
    const ended = await services.store.endOthers(sub, loginId)
    if (ended > 0) await services.audit(event)
    return ended
  })
}

/** Refuses every session of the user made until now, on every instance, whatever the clocks say. @throws {OperationError} `not-found` */
export async function signOutEverywhere(services: SessionServices, sub: string, origin: AuditOrigin = {}): Promise<void> {
  const at = services.now()
  let user: UserRecord | undefined
  const end = async (): Promise<UserRecord | undefined> => {
    // Raised once: a later raise would end the sessions made since.
    user ??= await services.store.raiseEpoch(sub, at)
    if (user !== undefined) await services.audit({ ...origin, sub, type: 'global-sign-out', outcome: 'success' })
    return user
  }
  await userChange(services, sub, () => failingClosed(services, { allOf: sub }, end))
}

/** A login that has ended at another issuer: one by its session there, or all of a user. */
export interface EndedLogin {
  readonly issuer: string
  readonly sub?: string | undefined
  /** The issuer's session. */
  readonly sid?: string | undefined
}

/**
 * Ends what another issuer says has ended: the session of that `sid`; where none is known, everything of the user, as tokens of that login
 * may still come. Nothing is known of either: there is nothing to end.
 */
export async function endLogin(services: SessionServices, { issuer, sub, sid }: EndedLogin, origin: AuditOrigin = {}): Promise<void> {
  const session = sid === undefined ? undefined : await services.store.sessionByDigest(foreignDigest(issuer, `sid:${sid}`))
  if (session !== undefined) {
    const event = { ...auditOf(session, origin), type: 'logout', outcome: 'success', reason: 'back-channel' } as const
    await endSession(services, session, { state: 'logged-out', event })
    return
  }
  if (sub !== undefined && (await services.store.user(sub)) !== undefined) await signOutEverywhere(services, sub, origin)
}

/** Disables, deletes or re-enables a user. Sessions made before do not come back. @throws {OperationError} `not-found` */
export async function setUserState(services: SessionServices, sub: string, state: UserRecord['state']): Promise<void> {
  await userChange(services, sub, () => services.store.setUserState(sub, state, services.now()))
  if (state !== 'active') await services.audit({ sub, type: 'global-sign-out', outcome: 'success', reason: `user-${state}` })
}

/** Which states a session can be brought to by its login id, and from which. */
const CHANGES: Readonly<Record<'disabled' | 'active' | 'deleted', readonly SessionState[]>> = {
  disabled: ['active'],
  active: ['disabled'],
  deleted: ['active', 'disabled', 'revoked', 'logged-out'],
}

/** Disables, enables or deletes a session; false when it is in no state for that, or not there. */
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

/** Ends a session; false when it had ended already. */
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

/** This process refuses the sessions at once. If their end cannot be stored, it goes on with that, and stores the end as soon as it can. */
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
