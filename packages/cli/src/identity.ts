import { discoverIssuer, introspectionVerifier, jwtVerifier, logoutTokenVerifier, type HandlerOptions } from '@fhir-ops/handler'
import { OperationError } from 'fhir-ops/errors'

/** Whose tokens `fhir-ops serve` takes beside its own. */
export interface IdentityOptions {
  /** Identifier of an OpenID provider. */
  readonly issuer?: string
  /** What its signed access tokens must be for; none are taken when absent. */
  readonly audience?: string
  /** This service's client at the provider: takes its logout tokens and, with the secret, asks it about opaque tokens. */
  readonly clientId?: string
  readonly clientSecret?: string | undefined
  /** Takes tokens that are bound to a key. */
  readonly dpop?: boolean
}

/**
 * What the handler needs for the tokens of the provider, which is asked once where its keys are.
 *
 * @throws {OperationError} `parameter-value` for options that do nothing; `unavailable` when the provider cannot be asked.
 */
export async function identityOf(options: IdentityOptions): Promise<Pick<HandlerOptions, 'verifiers' | 'logoutTokens' | 'dpop'>> {
  const { issuer, audience, clientId, clientSecret, dpop } = options
  const isUsed = audience !== undefined || clientId !== undefined
  if ((issuer === undefined) === isUsed || (dpop === true && issuer === undefined)) {
    throw new OperationError('parameter-value', '--issuer goes with --audience, --client-id or both; these and --dpop need --issuer.')
  }
  if (issuer === undefined) return {}
  const { jwksUri, introspectionEndpoint } = await discoverIssuer(issuer)
  const place = { issuer, allowInsecureLoopback: issuer.startsWith('http:') }
  const signed = audience === undefined ? [] : [jwtVerifier({ ...place, audience, jwksUri })]
  const isAsked = clientId !== undefined && clientSecret !== undefined
  const endpoint = isAsked ? introspectionAt(issuer, introspectionEndpoint) : ''
  return {
    verifiers: [...signed, ...(isAsked ? [introspectionVerifier({ ...place, endpoint, clientId, clientSecret })] : [])],
    logoutTokens: clientId === undefined ? [] : [logoutTokenVerifier({ ...place, audience: clientId, jwksUri })],
    ...(dpop === true && { dpop: {} }),
  }
}

function introspectionAt(issuer: string, endpoint: string | undefined): string {
  if (endpoint !== undefined) return endpoint
  throw new OperationError('parameter-value', `${issuer} publishes no introspection endpoint, so it cannot be asked about opaque tokens.`)
}
