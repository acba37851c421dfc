import type { JWK } from 'jose'
import { base64UrlBytes } from '../http/base64.js'

/** Says, as the end of a sentence, why a JWK cannot verify signatures with any of these algorithms; `undefined` if it can. */
export function keyProblem(key: JWK, algorithms: readonly string[]): string | undefined {
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
export function isForSignatures({ use = 'sig', key_ops: uses = ['verify'] }: JWK): boolean {
  return use === 'sig' && uses.includes('verify')
}

const MIN_RSA_BITS = 2048

/** False for symmetric keys and short RSA keys, which are never used. */
export function isStrong({ kty, n }: JWK): boolean {
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
