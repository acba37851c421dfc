import type { Sessions } from 'fhir-ops/sessions'
import type { SessionRecord } from 'fhir-ops/storage'
import { jsonAnswer, type Answer } from '../http/answer.js'
import type { Exchange } from '../exchange.js'
import { principalOf } from './principal-of.js'

/** The caller's active sessions, newest first (SE-01 to SE-05). */
export async function sessionList(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  const { sub, claims, loginId } = principalOf(exchange)
  const active = await sessions.list(sub)
  return jsonAnswer(200, {
    sub,
    ...textClaim('name', claims),
    ...textClaim('email', claims),
    sessions: active.map((session) => sessionEntry(session, session.loginId === loginId)),
  })
}

function textClaim(name: string, claims: Readonly<Record<string, unknown>>): Record<string, string> {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}

function sessionEntry(session: SessionRecord, current: boolean): object {
  const { loginId, userAgent, remoteHost, authMethod, createdAt, lastUsedAt, expiresAt } = session
  return {
    loginId,
    userAgent,
    remoteHost,
    authMethod,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(lastUsedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    current,
  }
}
