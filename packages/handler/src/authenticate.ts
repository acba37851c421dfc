import { OperationError } from 'fhir-ops/errors'
import { rejected, type Principal } from 'fhir-ops/sessions'
import { rejectionReason, TOKEN_PREFIX } from 'fhir-ops/internal/sessions'
import { audit } from './audit.js'
import { callerOf, OPEN_CALLER } from './auth/caller.js'
import { credentialsOf, malformedCredentials, type Credentials } from './auth/credentials.js'
import { attempt, isPending, type Awaitable } from 'fhir-ops/internal/work'
import type { Exchange } from './exchange.js'
import { familyOf } from './failure.js'
import type { Service } from './service.js'

/**
 * Identifies the caller; an entry of a batch has the caller of the batch. Reads nothing of the body.
 *
 * @throws {OperationError} `token-missing`, `token-malformed`, `token-invalid`, and storage errors.
 */
export function authenticate(service: Service, exchange: Exchange): Promise<void> | undefined {
  if (exchange.target.query.some(([name]) => name === 'access_token')) return refuseTokenInUrl(service, exchange)
  if (exchange.bundle !== undefined || exchange.route?.access === 'public') return undefined
  if (!service.isOpen || !exchange.isFhir) return identify(service, exchange)
  exchange.caller = OPEN_CALLER
  return undefined
}

/** A token in the URL ends up in logs, so it is refused everywhere, even where no token is required. */
async function refuseTokenInUrl(service: Service, exchange: Exchange): Promise<never> {
  await audit(service, exchange, { type: 'token-in-url', outcome: 'refused' })
  throw malformedCredentials()
}

async function identify(service: Service, exchange: Exchange): Promise<void> {
  const credentials = credentialsIn(service, exchange)
  try {
    const principal = await principalOf(service, exchange, credentials)
    const caller = callerOf(principal, service.access, service.scopeReading)
    exchange.caller = isPending(caller) ? await caller : caller
  } catch (error) {
    const reason = rejectionReason(error)
    if (reason !== undefined) await audit(service, exchange, { type: 'token-rejected', outcome: 'refused', reason })
    throw error
  }
}

const BEARER: readonly string[] = ['bearer']
const BEARER_OR_DPOP: readonly string[] = ['bearer', 'dpop']

function credentialsIn(service: Service, exchange: Exchange): Credentials {
  try {
    return credentialsOf(exchange.request, exchange.connection, service.dpop === undefined ? BEARER : BEARER_OR_DPOP)
  } catch (error) {
    const isMissing = error instanceof OperationError && error.code === 'token-missing'
    if (!isMissing || familyOf(service, exchange) !== 'userinfo' || !service.isTokenRequiredAtUserInfo) throw error
    throw new OperationError('token-malformed', error.message)
  }
}

/** An unknown token that looks like ours goes to a verifier, because a host may choose any text as a fixed token. Our tokens are not bound to keys. */
function principalOf(service: Service, exchange: Exchange, credentials: Credentials): Awaitable<Principal> {
  const { token, proof } = credentials
  if (!token.startsWith(TOKEN_PREFIX) || proof !== undefined) return foreignPrincipal(service, exchange, credentials)
  const failed = (error: unknown): Promise<Principal> => {
    if (rejectionReason(error) !== 'unknown') throw error
    return foreignPrincipal(service, exchange, credentials)
  }
  return attempt(() => service.sessions.verify(token), failed)
}

async function foreignPrincipal(service: Service, exchange: Exchange, { token, proof }: Credentials): Promise<Principal> {
  const { request, remoteHost } = exchange
  const verifier = service.verifiers.find((one) => one.claims(token))
  if (verifier === undefined) throw rejected('unknown')
  const proven =
    proof === undefined ? undefined : await service.dpop?.({ proof, method: request.method, uri: uriOf(service, exchange), token })
  const verified = await verifier.verify(token, proven?.jkt)
  await proven?.use()
  return service.sessions.adopt(verified, { userAgent: request.header('user-agent'), remoteHost })
}

/** The address as the client knows it; the `Host` header is not used. */
function uriOf({ baseUrl, mount }: Service, { request }: Exchange): string {
  const prefix = mount.map((segment) => `/${segment}`).join('')
  return `${baseUrl}${request.target.slice(prefix.length)}`
}
