const CHUNK = 8_192

/** The text that base64 or base64url encodes, one character for each octet. */
export function fromBase64(text: string): string {
  return atob(text.replaceAll('-', '+').replaceAll('_', '/'))
}

/** The octets that base64 or base64url encodes. */
export function octetsOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(fromBase64(text), (character) => character.charCodeAt(0))
}

/** Octets as base64url without padding. */
export function toBase64(octets: Uint8Array): string {
  let text = ''
  for (let start = 0; start < octets.length; start += CHUNK) text += String.fromCharCode(...octets.subarray(start, start + CHUNK))
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** A text in UTF-8. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}
