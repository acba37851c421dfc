import type { SignatureAlgorithm } from '../../run/definitions.js'

/** The algorithms of JWS that are verified, by name. `none` and those with a shared secret prove nothing to others. */
const ALGORITHMS: ReadonlyMap<string, SignatureAlgorithm> = new Map(
  [256, 384, 512].flatMap((bits) => [
    [`RS${bits}`, algorithm('RSASSA-PKCS1-v1_5', bits)] as const,
    [`PS${bits}`, algorithm('RSA-PSS', bits)] as const,
    [`ES${bits}`, algorithm('ECDSA', bits)] as const,
  ]),
)

function algorithm(name: string, bits: number): SignatureAlgorithm {
  return { name, hash: `SHA-${bits}`, saltLength: bits / 8, namedCurve: `P-${bits === 512 ? 521 : bits}` }
}

/**
 * How signatures of an algorithm are verified.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7518#section-3.1
 */
export function algorithmOf(name: unknown): SignatureAlgorithm | undefined {
  return typeof name === 'string' ? ALGORITHMS.get(name) : undefined
}
