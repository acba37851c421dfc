import { createLimiter } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { rejected, type ForeignToken } from 'fhir-ops/sessions'
import { sha256, TOKEN_PREFIX } from 'fhir-ops/internal/sessions'
import { LRUCache } from 'lru-cache'
import { ADDRESS, issuerAddress, issuerJson, type IssuerAddress } from './issuer.js'
import { foreignTokenOf, jwtShape, type TokenVerifier } from './token-verifier.js'
import { AMOUNT, checkOptions, CLOCK, FLAG, FUNCTION, inputShape, needed, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** Options for checking opaque tokens of one issuer. */
export interface IntrospectionOptions {
  /** The issuer's introspection endpoint, https. */
  readonly endpoint: IssuerAddress
  /** Allows `http` on the loopback interface. */
  readonly allowInsecureLoopback?: boolean
  /** Identifier of the issuer; an answer that names another issuer is rejected. */
  readonly issuer: string
  /** Credentials of this service at the issuer (HTTP Basic). */
  readonly clientId: string
  readonly clientSecret: string
  /** Value that `aud` of the answer must contain; not checked if absent. */
  readonly audience?: string
  /**
   * Also accepts answers without `token_type`, for issuers that never send it. It is then up to the issuer not to report refresh tokens as active.
   * Default false.
   */
  readonly allowUntyped?: boolean
  /**
   * How long an answer is cached, in milliseconds, which is how long a revocation at the issuer may remain unnoticed: 0 (default) to 5,000. With 0,
   * every request is checked with the issuer. A session that is ended here ends immediately in any case.
   */
  readonly cacheMs?: number
  /** Allowed clock difference in seconds: 0 to 300, default 30. */
  readonly clockTolerance?: number
  /** Claim that names the caller's project. */
  readonly projectClaim?: string
  /** Default: the system's clock. */
  readonly now?: () => Date
  /** Sends the requests to the issuer. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

const SHAPE: InputShape = inputShape<IntrospectionOptions>({
  endpoint: needed(ADDRESS),
  allowInsecureLoopback: FLAG,
  issuer: needed(TEXT),
  clientId: needed(TEXT),
  clientSecret: needed(TEXT),
  audience: TEXT,
  allowUntyped: FLAG,
  cacheMs: AMOUNT,
  clockTolerance: AMOUNT,
  projectClaim: TEXT,
  now: CLOCK,
  fetch: FUNCTION,
})

const MAX_TOLERANCE = 300
const MAX_CACHE_MS = 5_000
const MAX_TOKEN_LENGTH = 8_192
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_KNOWN = 10_000
/** How long a rejected text is remembered. It rarely becomes a valid token; only an issuer's instances need some time to learn of a new token. */
const REFUSED_MS = 10_000
/** Limits on simultaneous and waiting requests to the issuer. */
const QUESTIONS = { concurrency: 64, queue: 256, refusal: 'Too many requests at the same time.' }

/** Cached answers of the issuer, by digest of the token; tokens are never stored. */
interface Introspecting {
  readonly options: IntrospectionOptions
  readonly clockTolerance: number
  readonly now: () => number
  readonly ask: (token: string) => Promise<JsonObject>
  readonly active: { get(digest: string): JsonObject | undefined; set(digest: string, answer: JsonObject): unknown }
  readonly refused: LRUCache<string, true>
}

/**
 * Verifies opaque access tokens with their issuer's introspection endpoint (RFC 7662). Claims every token that is neither signed nor one of the
 * library's own, so list it after other verifiers. If the issuer does not answer, the error is `unavailable` (503), never a refused token.
 *
 * @throws {TypeError} for an address that is not https, other impossible options, and options that are missing, unknown or of another type.
 */
export function introspectionVerifier(options: IntrospectionOptions): TokenVerifier {
  checkOptions('introspectionVerifier', SHAPE, options)
  const introspecting = introspectingOf(options)
  return {
    claims: (token) => token.length <= MAX_TOKEN_LENGTH && !token.startsWith(TOKEN_PREFIX) && jwtShape(token) === undefined,
    verify: (token, jkt) => verify(introspecting, token, jkt),
  }
}

async function verify(introspecting: Introspecting, token: string, jkt: string | undefined): Promise<ForeignToken> {
  const { options, clockTolerance, now } = introspecting
  const digest = await sha256(token)
  const payload = await answerAbout(introspecting, token, digest)
  if (!isOurs(payload, options) || !isAccessToken(payload, options)) throw rejected('claims')
  const verified = foreignTokenOf({ payload, digest, now: now(), jkt }, { ...options, clockTolerance })
  if (verified.expiresAt <= now()) throw rejected('expired')
  return verified
}

async function answerAbout({ ask, active, refused }: Introspecting, token: string, digest: string): Promise<JsonObject> {
  const known = active.get(digest)
  if (known !== undefined) return known
  if (refused.has(digest)) throw rejected('inactive')
  const answer = await ask(token)
  if (answer['active'] !== true) {
    refused.set(digest, true)
    throw rejected('inactive')
  }
  active.set(digest, answer)
  return answer
}

function isOurs({ iss, aud }: JsonObject, { issuer, audience }: IntrospectionOptions): boolean {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return (iss === undefined || iss === issuer) && (audience === undefined || audiences.includes(audience))
}

/** Checks the type, because a refresh token may be active too (RFC 7662 2.2, RFC 6749 5.1). */
function isAccessToken({ token_type: type }: JsonObject, { allowUntyped = false }: IntrospectionOptions): boolean {
  return typeof type === 'string' ? ['bearer', 'dpop'].includes(type.toLowerCase()) : type === undefined && allowUntyped
}

function introspectingOf(options: IntrospectionOptions): Introspecting {
  const { clockTolerance = 30, cacheMs = 0 } = options
  if (!(clockTolerance >= 0 && clockTolerance <= MAX_TOLERANCE)) throw new TypeError('clockTolerance must be 0 to 300 seconds.')
  if (!(cacheMs >= 0 && cacheMs <= MAX_CACHE_MS)) throw new TypeError('cacheMs must be 0 to 5,000.')
  return {
    options,
    clockTolerance,
    now: () => (options.now?.() ?? new Date()).getTime(),
    ask: questions(options),
    active: cacheMs === 0 ? NOTHING_KEPT : new LRUCache({ max: MAX_KNOWN, ttl: cacheMs, ttlResolution: 0 }),
    refused: new LRUCache({ max: MAX_KNOWN, ttl: REFUSED_MS }),
  }
}

const NOTHING_KEPT: Introspecting['active'] = { get: () => undefined, set: () => undefined }

/** @returns A function that queries the issuer about a token. It throws `unavailable`, or `throttled` if too many queries are waiting. */
function questions({
  endpoint: uri,
  allowInsecureLoopback = false,
  clientId,
  clientSecret,
  ...options
}: IntrospectionOptions): Introspecting['ask'] {
  const endpoint = issuerAddress('endpoint', { uri, allowInsecureLoopback })
  const limiter = createLimiter(QUESTIONS)
  const authorization = `Basic ${btoa([clientId, clientSecret].map(encodeURIComponent).join(':'))}`
  const issuer = { fetch: options.fetch ?? ((...input) => fetch(...input)), maxBytes: MAX_ANSWER_BYTES }
  const ask = async (token: string): Promise<JsonObject> => {
    try {
      const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
      return await issuerJson(
        { ...issuer, uri: await endpoint() },
        { method: 'POST', headers: { accept: 'application/json', authorization }, body },
      )
    } catch (cause) {
      throw new OperationError('unavailable', 'The token issuer is not available.', { cause, retryAfterSeconds: 5 })
    }
  }
  return (token) => limiter.run(() => ask(token))
}
