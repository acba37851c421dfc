import { base64Problem } from '../primitive/number-and-bytes.js'

/** Octets of base64; none when it is not base64. */
export function octetsIn(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** The text whose UTF-8 is in base64; `undefined` for what is not base64 as FHIR has it. */
export function textInBase64(base64: string): string | undefined {
  return base64Problem(base64) === undefined ? new TextDecoder().decode(octetsIn(base64)) : undefined
}
