import { base64Problem } from '../primitive/number-and-bytes.js'

/** Decodes base64; returns no octets when it is not base64. */
export function octetsIn(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** Decodes UTF-8 text in base64; `undefined` when it is not base64 by the rules of FHIR. */
export function textInBase64(base64: string): string | undefined {
  return base64Problem(base64) === undefined ? new TextDecoder().decode(octetsIn(base64)) : undefined
}
