import { sha256 as digestOf } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Every opaque token starts with it, so that secret scanners find leaks. */
export const TOKEN_PREFIX = 'fo_'

const TOKEN_BYTES = 32

/** A new opaque token: `fo_` and 256 random bits in base64url. */
export function newToken(random: (bytes: number) => Uint8Array): string {
  const text = btoa(String.fromCharCode(...random(TOKEN_BYTES)))
  return TOKEN_PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** SHA-256 of a text, lower-case hex. Not by WebCrypto, which sends a token of 46 bytes to another thread and back. */
export function sha256(text: string): string {
  return nativeHash()?.('sha256', text, 'hex') ?? plainSha256(text)
}

/** By JavaScript, wherever there is nothing faster. */
export function plainSha256(text: string): string {
  return bytesToHex(digestOf(utf8ToBytes(text)))
}

/**
 * The runtime's own, which takes a tenth of the time; absent in browsers and on the edge. Asked for with each text, which is no slower than a reference that is kept: to
 * load it takes as long as a tenth of the handler.
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

/** Compares two digests in a time that does not depend on where they differ. */
export function sameDigest(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
