/** Every opaque token starts with it, so that secret scanners find leaks. */
export const TOKEN_PREFIX = 'fo_'

const TOKEN_BYTES = 32

/** A new opaque token: `fo_` and 256 random bits in base64url. */
export function newToken(random: (bytes: number) => Uint8Array): string {
  const text = btoa(String.fromCharCode(...random(TOKEN_BYTES)))
  return TOKEN_PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** SHA-256 of a text, lower-case hex. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two digests in a time that does not depend on where they differ. */
export function sameDigest(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
