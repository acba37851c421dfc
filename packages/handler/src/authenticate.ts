import { OperationError } from 'fhir-ops/errors'
import { rejected, rejectionReason, TOKEN_PREFIX, type Principal } from 'fhir-ops/sessions'
import { callerOf, OPEN_CALLER, type Caller } from './auth/caller.js'
import { bearerToken, malformedCredentials } from './auth/credentials.js'
import type { Exchange } from './exchange.js'
import type { Service } from './service.js'

/**
 * Who makes the request. No byte of its body is read here.
 *
 * @throws {OperationError} `token-missing`, `token-malformed`, `token-invalid`, and storage errors.
 */
export async function authenticate(service: Service, exchange: Exchange): Promise<Caller> {
  if (exchange.target.query.some(([name]) => name === 'access_token')) {
    await audited(service, exchange, { type: 'token-in-url' })
    throw malformedCredentials()
  }
  if (service.isOpen && exchange.isFhir) return OPEN_CALLER
  const token = tokenOf(service, exchange)
  try {
    const principal = await principalOf(service, exchange, token)
    return await callerOf(principal, service.access, service.scopeReading)
  } catch (error) {
    const reason = rejectionReason(error)
    if (reason !== undefined) await audited(service, exchange, { type: 'token-rejected', reason })
    throw error
  }
}

function tokenOf(service: Service, exchange: Exchange): string {
  try {
    return bearerToken(exchange.request, exchange.connection)
  } catch (error) {
    const isMissing = error instanceof OperationError && error.code === 'token-missing'
    if (!isMissing || exchange.family !== 'userinfo' || !service.isTokenRequiredAtUserInfo) throw error
    throw new OperationError('token-malformed', error.message)
  }
}

/** Of a token that looks like one of ours but is none, a verifier is asked: the text of a fixed token is chosen by the host. */
async function principalOf(service: Service, exchange: Exchange, token: string): Promise<Principal> {
  if (!token.startsWith(TOKEN_PREFIX)) return foreignPrincipal(service, exchange, token)
  try {
    return await service.sessions.verify(token)
  } catch (error) {
    if (rejectionReason(error) !== 'unknown') throw error
    return foreignPrincipal(service, exchange, token)
  }
}

async function foreignPrincipal(service: Service, { request, remoteHost }: Exchange, token: string): Promise<Principal> {
  const verifier = service.verifiers.find((one) => one.claims(token))
  if (verifier === undefined) throw rejected('unknown')
  return service.sessions.adopt(await verifier.verify(token), { userAgent: request.header('user-agent'), remoteHost })
}

function audited(
  service: Service,
  { requestId, remoteHost }: Exchange,
  event: { type: 'token-in-url' | 'token-rejected'; reason?: string },
): Promise<void> {
  return service.sessions.audit({ ...event, outcome: 'refused', requestId, remoteHost })
}
