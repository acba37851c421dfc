import { isObject, type JsonObject } from '../../../json/index.js'
import { bytesOf, fromBase64, toBase64 } from './base64-text.js'

/** A JWS in its compact form. */
export interface Jws {
  readonly header: JsonObject
  /** The header as it was sent, which is what is signed. */
  readonly protectedText: string
  /** What is signed, in base64url; empty when it is detached. */
  readonly payload: string
  readonly signature: string
}

const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)\.([A-Za-z0-9_-]+)$/

/**
 * Reads a JWS; `undefined` when it is none.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-7.1
 */
export function readJws(text: string): Jws | undefined {
  const [, protectedText = '', payload = '', signature = ''] = COMPACT.exec(text.trim()) ?? []
  if ([protectedText, payload, signature].some(isCutOff)) return undefined
  const header = protectedText === '' ? undefined : headerIn(protectedText)
  return header && { header, protectedText, payload, signature }
}

/** Of base64, one character alone means nothing. */
function isCutOff(text: string): boolean {
  return text.length % 4 === 1
}

function headerIn(protectedText: string): JsonObject | undefined {
  try {
    const header: unknown = JSON.parse(fromBase64(protectedText))
    return isObject(header) ? header : undefined
  } catch {
    return undefined
  }
}

/** What the signature of a JWS is over, where `content` replaces a detached payload. */
export function signedBytes({ header, protectedText, payload }: Jws, content: string): Uint8Array<ArrayBuffer> {
  const encoded = header['b64'] === false ? content : toBase64(bytesOf(content))
  return bytesOf(`${protectedText}.${payload === '' ? encoded : payload}`)
}
