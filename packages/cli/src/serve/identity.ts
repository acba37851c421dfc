import {
  discoverIssuer,
  introspectionVerifier,
  jwtVerifier,
  logoutTokenVerifier,
  type HandlerOptions,
  type SmartConfiguration,
  type TokenVerifier,
} from '@fhir-ops/handler'
import { OperationError } from 'fhir-ops/errors'
import { wrongUse, type Io } from '../io.js'

/** Issuers whose tokens `fhir-ops serve` accepts in addition to its own. */
export interface IdentityOptions {
  /** Identifier of an OpenID provider. */
  readonly issuer?: string
  /** Required audience of signed access tokens; if absent, none are accepted. */
  readonly audience?: string
  /** This service's client id at the provider. Enables its logout tokens and, with the secret, introspection of opaque tokens. */
  readonly clientId?: string
  readonly clientSecret?: string | undefined
  /** Accepts tokens bound to a key. */
  readonly dpop?: boolean
}

/** Handler options for the tokens of a provider. */
interface Identity {
  readonly options: Pick<HandlerOptions, 'verifiers' | 'logoutTokens' | 'dpop' | 'smartConfiguration'>
  /** Resolves after the provider has published where its keys are. @throws {OperationError} `unavailable` until then. */
  readonly ready: () => Promise<unknown>
}

/**
 * Configures identities by a provider, which need not be running: it is asked now where its keys are and, if it does not answer, again
 * whenever the keys are needed.
 *
 * @throws {OperationError} `parameter-value` for options without an effect, for an issuer that is not https, and for a provider without an
 *   introspection endpoint if introspection is required.
 */
export async function identityOf(options: IdentityOptions, io: Io): Promise<Identity> {
  checkTogether(options)
  if (options.issuer === undefined) return { options: {}, ready: async () => undefined }
  const provider = providerAt(options.issuer, credentialsOf(options) !== undefined)
  await provider().catch((error: unknown) => {
    if (!(error instanceof OperationError && error.code === 'unavailable')) throw wrongUse(error)
    io.err(`${error.message} The next token and /readyz try again; /readyz answers 503 until then.`)
  })
  return { options: handlerOptions(options.issuer, provider, options), ready: provider }
}

function checkTogether({ issuer, audience, clientId, dpop = false }: IdentityOptions): void {
  const isUsed = audience !== undefined || clientId !== undefined
  if (issuer === undefined ? !isUsed && !dpop : isUsed) return
  throw new OperationError('parameter-value', '--issuer needs --audience, --client-id or both; these and --dpop need --issuer.')
}

interface Provider {
  readonly jwksUri: string
  readonly introspectionEndpoint: string
  readonly published: SmartConfiguration
}

/** Reads the provider's discovery document, one request at a time, until one succeeds. */
function providerAt(issuer: string, isAskedAboutTokens: boolean): () => Promise<Provider> {
  let answer: Promise<Provider> | undefined
  const ask = async (): Promise<Provider> => {
    const { jwksUri, published, introspectionEndpoint = '' } = await discoverIssuer(issuer)
    if (introspectionEndpoint === '' && isAskedAboutTokens)
      throw new OperationError(
        'parameter-value',
        `${issuer} publishes no introspection endpoint, so it cannot be asked about opaque tokens.`,
      )
    return { jwksUri, published, introspectionEndpoint }
  }
  return () =>
    (answer ??= ask().catch((error: unknown) => {
      answer = undefined
      throw error
    }))
}

function handlerOptions(issuer: string, provider: () => Promise<Provider>, options: IdentityOptions): Identity['options'] {
  const { audience, clientId, dpop = false } = options
  const place = { issuer, allowInsecureLoopback: issuer.startsWith('http:') }
  const jwksUri = async (): Promise<string> => (await provider()).jwksUri
  const endpoint = async (): Promise<string> => (await provider()).introspectionEndpoint
  const credentials = credentialsOf(options)
  return {
    verifiers: [
      ...(audience === undefined ? [] : [jwtVerifier({ ...place, audience, jwksUri })]),
      ...(credentials === undefined ? [] : [introspectionVerifier({ ...place, ...credentials, endpoint })]),
    ],
    logoutTokens: clientId === undefined ? [] : [logoutTokenVerifier({ ...place, audience: clientId, jwksUri })],
    smartConfiguration: async () => (await provider()).published,
    ...(dpop && { dpop: {} }),
  }
}

function credentialsOf({ clientId, clientSecret }: IdentityOptions): { clientId: string; clientSecret: string } | undefined {
  return clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret }
}

/** All supported scopes: user information, all resources, and bots, which must be named. */
export const FULL_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'system/*.cruds', 'system/Bot.cruds']

/** A fictitious user with all claims of the user-information endpoint. */
export const DEMO_USER = {
  sub: 'demo',
  name: 'Demo User',
  given_name: 'Demo',
  family_name: 'User',
  preferred_username: 'demo',
  email: 'demo@example.org',
}

const DAY_MS = 86_400_000
const LIFETIME_MS = 30 * DAY_MS

/** Accepts a fixed text as the token of the demo user, with all scopes. Each start of the server creates a new session. */
export function devTokenVerifier(token: string): TokenVerifier {
  const { sub, ...claims } = DEMO_USER
  const startedAt = Date.now()
  const session = {
    issuer: 'fhir-ops serve --dev-token',
    sub,
    sessionKey: crypto.randomUUID(),
    issuedAt: startedAt,
    expiresAt: startedAt + LIFETIME_MS,
    scopes: FULL_SCOPES,
    claims,
  }
  return { claims: (text) => text === token, verify: async () => session }
}
