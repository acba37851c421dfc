import type { CryptoKey, JWK } from 'jose'
import type { IssuerAddress } from './issuer-json.js'
import { configuredKeys, type KeySource } from './key-source.js'
import { remoteKeys } from './remote-keys.js'

/** Where the keys of an issuer come from: exactly one of these, and the algorithms that go with it. */
export type JwtKeys = (
  | {
      /** Address of the issuer's JWKS: https. */
      readonly jwksUri: IssuerAddress
      readonly allowInsecureLoopback?: boolean
      /** For the JWKS only. */
      readonly fetch?: typeof fetch
    }
  /** Public keys. */
  | { readonly keys: readonly JWK[] }
  /** At least 32 bytes; then only HS256, HS384 and HS512 are accepted. */
  | { readonly secret: Uint8Array }
) & {
  /** Default ES256, ES384, EdDSA, RS256, PS256. */
  readonly algorithms?: readonly string[]
}

const ASYMMETRIC = ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'] as const
const SYMMETRIC = ['HS256', 'HS384', 'HS512'] as const
const MIN_SECRET_BYTES = 32

/** Without them every issuer's tokens would do, for every service. @throws {TypeError} unless both are texts. */
export function checkParties(options: { readonly issuer: unknown; readonly audience: unknown }): void {
  for (const party of [options.issuer, options.audience])
    if (typeof party !== 'string' || party === '') throw new TypeError('issuer and audience must be given.')
}

/** @throws {TypeError} for an algorithm that does not go with the keys. */
export function algorithmsOf(options: JwtKeys): readonly string[] {
  const known: readonly string[] = 'secret' in options ? SYMMETRIC : ASYMMETRIC
  const asked = options.algorithms ?? known
  const unknown = asked.find((algorithm) => !known.includes(algorithm))
  if (unknown !== undefined) throw new TypeError(`The algorithm ${unknown} does not go with these keys.`)
  return asked
}

/** @throws {TypeError} for weak keys, and a JWKS address that is not https. */
export function keysOf(options: JwtKeys): KeySource {
  if ('secret' in options) return secretKey(options.secret)
  if ('keys' in options) return configuredKeys(options.keys)
  return remoteKeys({
    uri: options.jwksUri,
    allowInsecureLoopback: options.allowInsecureLoopback ?? false,
    fetch: options.fetch ?? ((...input) => fetch(...input)),
    monotonic: () => performance.now(),
  })
}

/** One secret for the three lengths of HMAC. */
function secretKey(secret: Uint8Array): KeySource {
  if (secret.length < MIN_SECRET_BYTES) throw new TypeError('The secret must have at least 32 bytes.')
  const bytes = Uint8Array.from(secret)
  return {
    keyFor: ({ alg = '' }): Promise<CryptoKey> =>
      crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: `SHA-${alg.slice(2)}` }, false, ['verify']),
  }
}
