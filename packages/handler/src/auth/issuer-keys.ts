import { OperationError } from 'fhir-ops/errors'
import { isBytes, objectsAt, stringAt } from 'fhir-ops/internal/json'
import type { createLocalJWKSet, CryptoKey, JSONWebKeySet, JWK, JWSHeaderParameters } from 'jose'
import { FLAG, FUNCTION, listOf, OBJECT, TEXT, type MemberKind } from 'fhir-ops/internal/input'
import { base64UrlBytes } from '../http/base64.js'
import { ADDRESS, issuerAddress, issuerJson, type IssuerAddress } from './issuer.js'

/** The source of an issuer's keys (exactly one of these members), and the accepted algorithms. */
export type JwtKeys = (
  | {
      /** Address of the issuer's JWKS, https. */
      readonly jwksUri: IssuerAddress
      /** Allows `http` on the loopback interface. Default false. */
      readonly allowInsecureLoopback?: boolean
      /** Used to fetch the JWKS only. */
      readonly fetch?: typeof fetch
    }
  /** Public keys. */
  | { readonly keys: readonly JWK[] }
  /** Secret of at least 32 bytes; only HS256, HS384 and HS512 are accepted with it. */
  | { readonly secret: Uint8Array }
) & {
  /** Default ES256, ES384, EdDSA, RS256, PS256. */
  readonly algorithms?: readonly string[]
}

/** Expected shape of the key options, for callers in plain JavaScript. */
export const KEY_OPTIONS: Readonly<Record<'jwksUri' | 'allowInsecureLoopback' | 'fetch' | 'keys' | 'secret' | 'algorithms', MemberKind>> = {
  jwksUri: ADDRESS,
  allowInsecureLoopback: FLAG,
  fetch: FUNCTION,
  keys: listOf(OBJECT),
  secret: { words: 'bytes (a Uint8Array)', is: isBytes },
  algorithms: listOf(TEXT),
}

const SOURCES = ['jwksUri', 'keys', 'secret'] as const
const ASYMMETRIC = ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'] as const
const SYMMETRIC = ['HS256', 'HS384', 'HS512'] as const
const MIN_SECRET_BYTES = 32

/** Checks that issuer and audience are set: otherwise tokens of any issuer for any service would be accepted. @throws {TypeError} unless both are texts. */
export function checkParties(options: { readonly issuer: unknown; readonly audience: unknown }): void {
  for (const party of [options.issuer, options.audience])
    if (typeof party !== 'string' || party === '') throw new TypeError('issuer and audience must be given.')
}

/** @throws {TypeError} for an algorithm that cannot be used with the keys. */
export function algorithmsOf(options: JwtKeys): readonly string[] {
  const known: readonly string[] = has(options, 'secret') ? SYMMETRIC : ASYMMETRIC
  const asked = options.algorithms ?? known
  const unknown = asked.find((algorithm) => !known.includes(algorithm))
  if (unknown !== undefined) throw new TypeError(`The algorithm ${unknown} cannot be used with these keys.`)
  return asked
}

/** False for an option that is `undefined`, as where a program reads it from its environment. */
function has<N extends 'secret' | 'keys'>(options: JwtKeys, name: N): options is Extract<JwtKeys, Readonly<Record<N, unknown>>> {
  return name in options && Reflect.get(options, name) !== undefined
}

/** @throws {TypeError} for keys that are weak or cannot verify anything, and for a JWKS address that is not https. */
export function keysOf(options: JwtKeys): KeySource {
  const given = SOURCES.filter((name) => Reflect.get(options, name) !== undefined)
  if (given.length !== 1)
    throw new TypeError(`One of ${SOURCES.join(', ')} must be given, and only one (${given.length === 0 ? 'none is' : given.join(', ')}).`)
  if (has(options, 'secret')) return secretKey(options.secret)
  if (has(options, 'keys')) return configuredKeys(options.keys, algorithmsOf(options))
  return remoteKeys({
    uri: options.jwksUri,
    allowInsecureLoopback: options.allowInsecureLoopback ?? false,
    fetch: options.fetch ?? ((...input) => fetch(...input)),
    monotonic: () => performance.now(),
  })
}

/** The same secret for all three lengths of HMAC. */
function secretKey(secret: Uint8Array): KeySource {
  if (secret.length < MIN_SECRET_BYTES) throw new TypeError('The secret must have at least 32 bytes.')
  const bytes = Uint8Array.from(secret)
  return {
    keyFor: ({ alg = '' }): Promise<CryptoKey> =>
      crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: `SHA-${alg.slice(2)}` }, false, ['verify']),
  }
}

/** Finds the key that a token names by `kid` and `alg`, among known keys only. */
export interface KeySource {
  /**
   * @throws jose's `JWKSNoMatchingKey` if no known key fits, `JWKSMultipleMatchingKeys` if several do; `OperationError` `unavailable`
   *   if keys cannot be fetched or used.
   */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey>
  /**
   * Fetches the keys again, unless that was done a moment ago. Absent if the keys cannot change.
   *
   * @throws {OperationError} `unavailable` if the last attempt failed.
   */
  renew?(): Promise<void>
}

/**
 * Creates a source of keys from the configuration. Keys for other uses, which an issuer may publish together with them, are ignored.
 *
 * @throws {TypeError} for a key that cannot verify anything: every token would be refused without an explanation.
 */
function configuredKeys(given: readonly JWK[], algorithms: readonly string[]): KeySource {
  const keys = given.filter(isForSignatures)
  if (keys.length === 0) throw new TypeError('There is no key to verify signatures with.')
  for (const key of keys) {
    const problem = keyProblem(key, algorithms)
    if (problem !== undefined) throw new TypeError(`Key ${key.kid ?? given.indexOf(key) + 1} ${problem}.`)
  }
  return keySet({ keys })
}

/** Creates a source from the usable keys of a published set; symmetric and short keys are ignored. */
export function keySet({ keys }: JSONWebKeySet): KeySource {
  const usable = keys.filter(isStrong)
  let find: ReturnType<typeof createLocalJWKSet> | undefined
  return {
    async keyFor(header) {
      const jose = await import('jose/jwks/local')
      find ??= jose.createLocalJWKSet({ keys: usable })
      try {
        return await find(header)
      } catch (error) {
        const { JWKSMultipleMatchingKeys, JWKSNoMatchingKey } = await import('jose/errors')
        if (error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys) throw error
        // A key that fits but cannot be used says nothing about the token: it was published wrongly, or the runtime lacks its algorithm.
        throw unusable(error)
      }
    },
  }
}

function unusable(cause: unknown): OperationError {
  return new OperationError('unavailable', 'A key of the token issuer cannot be used by this server.', { cause, retryAfterSeconds: 5 })
}

/** Where an issuer publishes its keys, and how to fetch them. */
interface RemoteKeysOptions {
  readonly uri: IssuerAddress
  /** Allows `http` on the loopback interface. */
  readonly allowInsecureLoopback: boolean
  readonly fetch: typeof fetch
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number
}

const FRESH_MS = 10 * 60_000
const STALE_MS = 24 * 3_600_000
const COOLDOWN_MS = 30_000
const RETRY_WITHOUT_KEYS_MS = 1_000
const MAX_BYTES = 256 * 1024

/**
 * Creates a source from an issuer's JWKS address. The keys are cached for 10 minutes, fetched again at most every 30 seconds for an unknown `kid` or a
 * token without `kid` that no key has signed, and used for up to 24 hours while the issuer is unreachable.
 *
 * @throws {TypeError} for an address that is not https.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  const cache = keyCache(options, issuerAddress('jwksUri', options))
  return {
    async keyFor(header) {
      const keys = await cache.current()
      try {
        return await keys.keyFor(header)
      } catch (error) {
        const { JWKSNoMatchingKey } = await import('jose/errors')
        if (!(error instanceof JWKSNoMatchingKey)) throw error
        const newer = await cache.newer()
        return newer.keyFor(header)
      }
    },
    async renew() {
      await cache.newer()
    },
  }
}

interface KeyCache {
  /** @throws {OperationError} `unavailable` if there are no keys. */
  current(): Promise<KeySource>
  /** Fetches the keys again, unless that was tried a moment ago. @throws {OperationError} `unavailable` if the last attempt failed. */
  newer(): Promise<KeySource>
}

function keyCache({ fetch, monotonic }: RemoteKeysOptions, address: () => Promise<string>): KeyCache {
  let kept: { readonly keys: KeySource; readonly at: number } | undefined
  let tried: { readonly at: number; readonly failed: boolean } | undefined
  let underWay: Promise<void> | undefined

  const fetchKeys = async (): Promise<void> => {
    try {
      const { keys } = await fetchSet(await address(), fetch)
      // If an issuer has withdrawn all its keys, they are dropped, but tokens are not called invalid because of that.
      const failed = !keys.some(isStrong)
      kept = failed ? undefined : { keys: keySet({ keys }), at: monotonic() }
      tried = { at: monotonic(), failed }
    } catch {
      // The failure is reported as `unavailable` where keys are needed; its text stays internal.
      tried = { at: monotonic(), failed: true }
    } finally {
      underWay = undefined
    }
  }
  const refresh = async (waitMs: number): Promise<void> => {
    if (underWay === undefined && tried !== undefined && monotonic() - tried.at < waitMs) return
    underWay ??= fetchKeys()
    await underWay
  }
  const usable = (): KeySource => {
    if (kept === undefined || monotonic() - kept.at > STALE_MS) throw unavailable()
    return kept.keys
  }
  return {
    async current() {
      if (kept === undefined) await refresh(RETRY_WITHOUT_KEYS_MS)
      else if (monotonic() - kept.at > FRESH_MS) await refresh(COOLDOWN_MS)
      return usable()
    },
    async newer() {
      await refresh(COOLDOWN_MS)
      if (tried?.failed === true) throw unavailable()
      return usable()
    },
  }
}

/** The error for a token that can be neither accepted nor refused. */
export function unavailable(cause?: unknown): OperationError {
  return new OperationError('unavailable', "The token issuer's keys cannot be fetched at the moment.", { cause, retryAfterSeconds: 5 })
}

async function fetchSet(uri: string, fetch: RemoteKeysOptions['fetch']): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json, application/jwk-set+json' }
  const body = await issuerJson({ uri, fetch, maxBytes: MAX_BYTES }, { headers })
  if (!Array.isArray(body['keys'])) throw new TypeError('This is not a set of keys.')
  const keys = objectsAt(body, 'keys').flatMap((key) => {
    const kty = stringAt(key, 'kty')
    return kty === undefined ? [] : [{ ...key, kty }]
  })
  return { keys }
}

/** Says, as the end of a sentence, why a JWK cannot verify signatures with any of these algorithms; `undefined` if it can. */
function keyProblem(key: JWK, algorithms: readonly string[]): string | undefined {
  const { kty, d } = key
  if (d !== undefined) return 'is private: only its public part belongs here'
  if (!isStrong(key)) return 'is symmetric or an RSA key of less than 2048 bits'
  const curves = CURVES.filter((curve) => curve.kty === kty && curve.crv === key.crv)
  const fitting = kty === 'RSA' ? ['RS256', 'PS256'] : curves.map(({ alg }) => alg)
  if (!fitting.some((alg) => algorithms.includes(alg) && [alg, undefined].includes(key.alg))) return 'fits none of the algorithms'
  const isSound = kty === 'RSA' ? isExponent(key.e) : curves.some((curve) => isPoint(key, curve))
  return isSound ? undefined : `of the type ${kty} is malformed`
}

/** False for a key that declares another use, such as encryption. */
function isForSignatures({ use = 'sig', key_ops: uses = ['verify'] }: JWK): boolean {
  return use === 'sig' && uses.includes('verify')
}

const MIN_RSA_BITS = 2048

/** False for symmetric keys and short RSA keys, which are never used. */
function isStrong({ kty, n }: JWK): boolean {
  return kty === 'RSA' ? (numberIn(n)?.toString(2).length ?? 0) >= MIN_RSA_BITS : kty === 'EC' || kty === 'OKP'
}

interface Curve {
  readonly alg: string
  readonly kty: string
  readonly crv: string
  /** Length of a coordinate in bytes. */
  readonly size: number
  /** The curve y² = x³ - 3x + b (FIPS 186-4, D.1.2); absent if every x is accepted. */
  readonly equation?: { readonly p: bigint; readonly b: bigint }
}

const CURVES: readonly Curve[] = [
  {
    alg: 'ES256',
    kty: 'EC',
    crv: 'P-256',
    size: 32,
    equation: {
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  },
  {
    alg: 'ES384',
    kty: 'EC',
    crv: 'P-384',
    size: 48,
    equation: {
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  },
  { alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', size: 32 },
]

function isPoint({ x, y }: JWK, { size, equation }: Curve): boolean {
  const [across, up] = [numberIn(x, size), numberIn(y, size)]
  if (across === undefined || equation === undefined) return across !== undefined
  const { p, b } = equation
  return up !== undefined && across < p && up < p && (up * up - across * across * across + 3n * across - b) % p === 0n
}

function isExponent(e: unknown): boolean {
  const exponent = numberIn(e)
  return exponent !== undefined && exponent > 1n && exponent % 2n === 1n
}

/** Parses a number in base64url; `undefined` for other text, or if it does not have exactly `bytes` bytes. */
function numberIn(text: unknown, bytes?: number): bigint | undefined {
  if (typeof text !== 'string' || !/^[\w-]+$/.test(text)) return undefined
  const read = base64UrlBytes(text)
  if (read === undefined || (bytes !== undefined && read.length !== bytes)) return undefined
  return BigInt(`0x${Array.from(read, (byte) => byte.toString(16).padStart(2, '0')).join('')}`)
}
