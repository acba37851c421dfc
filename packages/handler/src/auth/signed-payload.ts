import type { CryptoKey, JWSHeaderParameters, JWTPayload, JWTVerifyOptions, errors } from 'jose'
import { unavailable, type KeySource } from './issuer-keys.js'

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
