import { onDemand, type Awaitable } from '../work/index.js'

/** Prefix of every opaque token, by which secret scanners find leaks. */
export const TOKEN_PREFIX = 'fo_'

const TOKEN_BYTES = 32

/** Creates an opaque token: `fo_` and 256 random bits in base64url. */
export function newToken(random: (bytes: number) => Uint8Array): string {
  const text = btoa(String.fromCharCode(...random(TOKEN_BYTES)))
  return TOKEN_PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Computes the SHA-256 of a text, in lower-case hex; immediately where the runtime can. Not with WebCrypto, which would send a token of 46 bytes to another
 * thread and back.
 */
export function sha256(text: string): Awaitable<string> {
  return nativeHash()?.('sha256', text, 'hex') ?? plainSha256(text)
}

/** Computes the SHA-256 in JavaScript, where there is nothing faster. */
export async function plainSha256(text: string): Promise<string> {
  const [{ sha256: digestOf }, { bytesToHex, utf8ToBytes }] = await hashes()
  return bytesToHex(digestOf(utf8ToBytes(text)))
}

/** Loading the library takes a seventh of the time of importing the handler, and Node.js does not need it. */
const hashes = onDemand(() => Promise.all([import('@noble/hashes/sha2.js'), import('@noble/hashes/utils.js')]))

/**
 * Returns the hash function of the runtime, which takes a tenth of the time; absent in browsers and on edge platforms. Fetched at each call, which is as
 * fast as a stored reference, and not at start, because loading it takes a tenth of the time of loading the handler.
 */
function nativeHash(): Crypto['hash'] | undefined {
  const host: { readonly process?: Runtime; readonly crypto: unknown } = globalThis
  return host.process?.getBuiltinModule?.('node:crypto')?.hash
}

interface Runtime {
  readonly getBuiltinModule?: (name: 'node:crypto') => Partial<Crypto> | undefined
}

interface Crypto {
  readonly hash: (algorithm: 'sha256', text: string, encoding: 'hex') => string
}

/** Compares two digests in constant time. */
export function sameDigest(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
