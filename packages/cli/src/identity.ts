import { discoverIssuer, introspectionVerifier, jwtVerifier, logoutTokenVerifier, type HandlerOptions } from '@fhir-ops/handler'
import { OperationError } from 'fhir-ops/errors'
import { wrongUse } from './wrong-use.js'

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
export async function identityOf(options: IdentityOptions): Promise<Identity> {
  checkTogether(options)
  return options.issuer === undefined ? {} : identityAt(options.issuer, options)
}

type Identity = Pick<HandlerOptions, 'verifiers' | 'logoutTokens' | 'dpop'>

function checkTogether({ issuer, audience, clientId, dpop = false }: IdentityOptions): void {
  const isUsed = audience !== undefined || clientId !== undefined
  if (issuer === undefined ? !isUsed && !dpop : isUsed) return
  throw new OperationError('parameter-value', '--issuer goes with --audience, --client-id or both; these and --dpop need --issuer.')
}

async function identityAt(issuer: string, options: IdentityOptions): Promise<Identity> {
  const { audience, clientId, dpop = false } = options
  const { jwksUri, introspectionEndpoint } = await discoverIssuer(issuer).catch((cause: unknown) => {
    throw wrongUse(cause)
  })
  const place = { issuer, allowInsecureLoopback: issuer.startsWith('http:') }
  const signed = audience === undefined ? [] : [jwtVerifier({ ...place, audience, jwksUri })]
  const credentials = credentialsOf(options)
  const opaque = credentials && introspectionVerifier({ ...place, ...credentials, endpoint: given(issuer, introspectionEndpoint) })
  return {
    verifiers: opaque === undefined ? signed : [...signed, opaque],
    logoutTokens: clientId === undefined ? [] : [logoutTokenVerifier({ ...place, audience: clientId, jwksUri })],
    ...(dpop && { dpop: {} }),
  }
}

function credentialsOf({ clientId, clientSecret }: IdentityOptions): { clientId: string; clientSecret: string } | undefined {
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret }
}

function given(issuer: string, endpoint: string | undefined): string {
  if (endpoint !== undefined) return endpoint
  throw new OperationError('parameter-value', `${issuer} publishes no introspection endpoint, so it cannot be asked about opaque tokens.`)
}
