import { OperationError, outcomeOk } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import type { AuditOrigin, Sessions } from 'fhir-ops/sessions'
import { jsonAnswer, type Answer } from '../http/answer.js'
import type { Exchange } from '../exchange.js'
import { principalOf } from './principal-of.js'

/** Ends the session of the token (LO-01 to LO-06). */
export async function logout(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  await sessions.logout(principalOf(exchange), originOf(exchange))
  return jsonAnswer(200, outcomeOk())
}

/**
 * Ends another session of the user by its login id, or all others (RV-01 to RV-07).
 *
 * @throws {OperationError} `parameter-required`, `parameter-invalid`, `parameter-value`; `not-found` alike for unknown and foreign ids.
 */
export async function revoke(sessions: Sessions, exchange: Exchange): Promise<Answer> {
  const principal = principalOf(exchange)
  const loginId = loginIdOf(exchange.body?.json ?? {})
  if (loginId === undefined) await sessions.revokeOthers(principal, originOf(exchange))
  else await sessions.revoke({ principal, loginId }, originOf(exchange))
  return jsonAnswer(200, outcomeOk())
}

const MAX_LOGIN_ID = 128

/** `undefined` for all others. */
function loginIdOf(body: JsonObject): string | undefined {
  const { loginId, others } = body
  if (loginId === undefined && others === undefined) throw new OperationError('parameter-required', 'The member loginId is missing.')
  if (loginId !== undefined && others !== undefined) {
    throw new OperationError('parameter-invalid', 'Only one of the members loginId and others can be given.')
  }
  if (others === true) return undefined
  if (typeof loginId === 'string' && loginId.length >= 1 && loginId.length <= MAX_LOGIN_ID) return loginId
  throw new OperationError('parameter-value', `The member loginId must be a text of 1 to ${MAX_LOGIN_ID} characters, others must be true.`)
}

function originOf({ requestId, remoteHost }: Exchange): AuditOrigin {
  return { requestId, remoteHost }
}
