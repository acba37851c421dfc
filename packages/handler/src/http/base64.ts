import { joinedBytes } from 'fhir-ops/internal/text'
import type { Work } from 'fhir-ops/internal/work'

/** Characters of base64 decoded at a time; a multiple of four. */
const CHARACTERS = 0x8000
/** Bytes encoded at a time; a multiple of three. */
const BYTES = 0x6000

/** Decodes a base64 text in steps; white space in it is ignored, as R4 allows. Returns `undefined` for any other text. */
export function* readingBase64(text: string): Work<Uint8Array | undefined> {
  const plain = /\s/.test(text) ? text.replaceAll(/\s+/g, '') : text
  const parts: Uint8Array[] = []
  for (let at = 0; at < plain.length; at += CHARACTERS) {
    yield
    const part = bytesOf(plain.slice(at, at + CHARACTERS))
    if (part === undefined || (part.length * 4 < 3 * CHARACTERS && at + CHARACTERS < plain.length)) return undefined
    parts.push(part)
  }
  return joinedBytes(parts)
}

/** Decodes a text in the alphabet of base64url, without padding; `undefined` for a length that no bytes have. */
export function base64UrlBytes(text: string): Uint8Array | undefined {
  return bytesOf(text.replaceAll('-', '+').replaceAll('_', '/'))
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Encodes bytes as base64, in steps. */
export function* writingBase64(bytes: Uint8Array): Work<string> {
  let text = ''
  for (let at = 0; at < bytes.length; at += BYTES) {
    yield
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + BYTES)))
  }
  return text
}
