import { createLocalJWKSet, type CryptoKey, type JSONWebKeySet, type JWK, type JWSHeaderParameters } from 'jose'

/** Finds the key that a token says it is signed with, by `kid` and `alg`, among known keys only. */
export interface KeySource {
  /** @throws jose's `JWKSNoMatchingKey` when no known key fits; `OperationError` `unavailable` when keys cannot be had. */
  keyFor(header: JWSHeaderParameters): Promise<CryptoKey>
}

const MIN_RSA_BYTES = 256

/** Keys from the configuration. @throws {TypeError} for an RSA key below 2048 bits and for a symmetric key. */
export function configuredKeys(keys: readonly JWK[]): KeySource {
  if (keys.some((key) => !isStrong(key))) throw new TypeError('A key is symmetric or an RSA key of less than 2048 bits.')
  return keySet({ keys: [...keys] })
}

/** The keys of a published set that may be used; symmetric and short ones are passed over. */
export function keySet({ keys }: JSONWebKeySet): KeySource {
  const find = createLocalJWKSet({ keys: keys.filter(isStrong) })
  return { keyFor: (header) => find(header) }
}

function isStrong({ kty, n }: JWK): boolean {
  if (kty === 'RSA') return typeof n === 'string' && Math.floor((n.length * 3) / 4) >= MIN_RSA_BYTES
  return kty === 'EC' || kty === 'OKP'
}
