import type { CryptoKey, JWTPayload, JWTVerifyOptions } from 'jose'
import { JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } from 'jose/errors'
import type { KeySource } from './issuer-keys.js'

/** Most keys that one token is tried with. */
const MAX_TRIED = 16

/**
 * The payload of a token that is signed with a key of the source. Where several keys fit what its header says (keys without `kid`, or with
 * the same), they are tried in their order.
 *
 * @throws as jose's `jwtVerify`; as the source of keys.
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-4.1.4
 */
export async function signedPayload(keys: KeySource, token: string, checks: JWTVerifyOptions): Promise<JWTPayload> {
  const { jwtVerify } = await import('jose/jwt/verify')
  try {
    const { payload } = await jwtVerify(token, (header) => keys.keyFor(header), checks)
    return payload
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
    const { payload } = await firstVerified(error, (key) => jwtVerify(token, key, checks))
    return payload
  }
}

/** @param fitting Gives the keys, without those that cannot be used. */
async function firstVerified<T>(fitting: JWKSMultipleMatchingKeys, verify: (key: CryptoKey) => Promise<T>): Promise<T> {
  let tried = 0
  for await (const key of fitting) {
    if (tried++ === MAX_TRIED) break
    try {
      return await verify(key)
    } catch (error) {
      if (!(error instanceof JWSSignatureVerificationFailed)) throw error
    }
  }
  throw fitting
}
