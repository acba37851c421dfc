import { OperationError } from 'fhir-ops/errors'
import { stringAt } from 'fhir-ops/internal/json'
import { rejected, type ForeignToken } from 'fhir-ops/sessions'
import { sha256 } from 'fhir-ops/internal/sessions'
import type { JWTPayload, CryptoKey, JWSHeaderParameters, JWTVerifyOptions, errors } from 'jose'
import { LRUCache } from 'lru-cache'
import { AMOUNT, checkOptions, CLOCK, FLAG, inputShape, TEXT, type InputShape } from 'fhir-ops/internal/input'
import { checkHeader, foreignTokenOf, jwtShape, type TokenVerifier } from './token-verifier.js'
import { algorithmsOf, checkParties, KEY_OPTIONS, keysOf, type JwtKeys, type KeySource, unavailable } from './issuer-keys.js'

/** Options for checking signed tokens of one issuer. */
export type JwtVerifierOptions = JwtKeys & {
  /** Exact value of `iss`. */
  readonly issuer: string
  /** Value that `aud` must contain. */
  readonly audience: string
  /** Also accepts the type `JWT`, for issuers that do not follow RFC 9068. Default false. */
  readonly allowPlainType?: boolean
  /** Allowed clock difference in seconds: 0 to 300, default 30. */
  readonly clockTolerance?: number
  /** Claim that names the caller's project. */
  readonly projectClaim?: string
  /** Default: the system's clock. */
  readonly now?: () => Date
}

const SHAPE: InputShape = inputShape<JwtVerifierOptions>({
  ...KEY_OPTIONS,
  issuer: TEXT,
  audience: TEXT,
  allowPlainType: FLAG,
  clockTolerance: AMOUNT,
  projectClaim: TEXT,
  now: CLOCK,
})

const MAX_TOLERANCE = 300
const MAX_VERIFIED = 10_000

/** The options of a verifier, checked and completed. */
interface Verifying {
  readonly options: JwtVerifierOptions
  readonly algorithms: readonly string[]
  readonly typ: readonly string[]
  readonly clockTolerance: number
  readonly now: () => number
  readonly keys: KeySource
  /** Tokens with a valid signature, by digest of the token; tokens are never stored. */
  readonly verified: LRUCache<string, Signed>
}

interface Signed {
  readonly payload: JWTPayload
  /** SHA-256 of header and payload: one content can have signatures of several forms (unused bits, the two values of ECDSA). */
  readonly digest: string
}

/**
 * Verifies signed access tokens of one issuer (RFC 9068). Hints in the token about where to find its key are ignored.
 *
 * @throws {TypeError} for keys that are weak or cannot verify anything, symmetric algorithms with public keys, a JWKS address that is not https, other
 *   impossible options, and options that are unknown or of another type.
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  checkOptions('jwtVerifier', SHAPE, options)
  const verifying = verifyingOf(options)
  return {
    claims: (token) => stringAt(jwtShape(token)?.payload, 'iss') === options.issuer,
    verify: (token, jkt) => verify(verifying, token, jkt),
  }
}

async function verify(verifying: Verifying, token: string, jkt: string | undefined): Promise<ForeignToken> {
  const shape = jwtShape(token)
  if (shape === undefined) throw rejected('malformed')
  checkHeader(shape.header, verifying)
  const { options, clockTolerance, now } = verifying
  const whole = await sha256(token)
  const signed = verifying.verified.get(whole) ?? {
    payload: await verifiedPayload(verifying, token),
    digest: await sha256(token.slice(0, token.lastIndexOf('.'))),
  }
  verifying.verified.set(whole, signed)
  const { payload } = signed
  if ((payload.exp ?? 0) * 1_000 <= now() - clockTolerance * 1_000) throw rejected('expired')
  return foreignTokenOf({ ...signed, now: now(), jkt }, { ...options, clockTolerance })
}

async function verifiedPayload({ options, algorithms, clockTolerance, now, keys }: Verifying, token: string): Promise<JWTPayload> {
  try {
    return await signedPayload(keys, token, {
      algorithms: [...algorithms],
      issuer: options.issuer,
      audience: options.audience,
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance,
      currentDate: new Date(now()),
    })
  } catch (error) {
    if (error instanceof OperationError) throw error
    throw rejected(await reasonOf(error))
  }
}

async function reasonOf(error: unknown): Promise<'expired' | 'claims' | 'signature'> {
  const { JWTClaimValidationFailed, JWTExpired } = await import('jose/errors')
  if (error instanceof JWTExpired) return 'expired'
  return error instanceof JWTClaimValidationFailed ? 'claims' : 'signature'
}

function verifyingOf(options: JwtVerifierOptions): Verifying {
  const clockTolerance = options.clockTolerance ?? 30
  if (!(clockTolerance >= 0 && clockTolerance <= MAX_TOLERANCE)) throw new TypeError('clockTolerance must be 0 to 300 seconds.')
  checkParties(options)
  return {
    options,
    algorithms: algorithmsOf(options),
    typ: options.allowPlainType === true ? ['at+jwt', 'jwt'] : ['at+jwt'],
    clockTolerance,
    now: () => (options.now?.() ?? new Date()).getTime(),
    keys: keysOf(options),
    verified: new LRUCache({ max: MAX_VERIFIED }),
  }
}

/** Maximum number of keys tried for one token. */
const MAX_TRIED = 16

/**
 * Returns the payload of a token that is signed with a key of the source. If several keys fit the header (keys without `kid`, or with
 * the same `kid`), they are tried in order. A token without `kid` may be signed with a key that its issuer published a moment ago, so before
 * it is refused, the keys are fetched again.
 *
 * @throws as jose's `jwtVerify`, and as the source of keys.
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-4.1.4
 */
export async function signedPayload(keys: KeySource, token: string, checks: JWTVerifyOptions): Promise<JWTPayload> {
  const [{ jwtVerify }, { JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed }] = await Promise.all([
    import('jose/jwt/verify'),
    import('jose/errors'),
  ])
  let isNamed = false
  const verified = async (): Promise<JWTPayload> => {
    try {
      const keyFor = (header: JWSHeaderParameters): Promise<CryptoKey> => {
        isNamed = header.kid !== undefined
        return keys.keyFor(header)
      }
      return (await jwtVerify(token, keyFor, checks)).payload
    } catch (error) {
      if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
      return (await firstVerified(error, (key) => jwtVerify(token, key, checks))).payload
    }
  }
  try {
    return await verified()
  } catch (error) {
    if (isNamed || !(error instanceof JWSSignatureVerificationFailed) || keys.renew === undefined) throw error
    await keys.renew()
    return verified()
  }
}

/**
 * @param fitting Iterates over the usable keys.
 * @throws {OperationError} `unavailable` if none of them can be used.
 */
async function firstVerified<T>(fitting: errors.JWKSMultipleMatchingKeys, verify: (key: CryptoKey) => Promise<T>): Promise<T> {
  const { JWSSignatureVerificationFailed } = await import('jose/errors')
  let failure: Error | undefined
  let tried = 0
  for await (const key of fitting) {
    if (tried++ === MAX_TRIED) break
    try {
      return await verify(key)
    } catch (error) {
      if (!(error instanceof JWSSignatureVerificationFailed)) throw error
      failure = error
    }
  }
  throw failure ?? unavailable()
}
