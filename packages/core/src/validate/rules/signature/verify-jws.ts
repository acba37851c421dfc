import { decode, encode } from 'jose/base64url'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { flattenedVerify } from 'jose/jws/flattened/verify'
import { importX509 } from 'jose/key/import'
import { quoted } from '../../../errors/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'

/** A JWS in compact form with a readable header. */
export interface Jws {
  readonly header: JsonObject
  /** The three parts as they were sent, in base64url; the payload is empty if it is detached. */
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

/** Algorithms that are verified (RFC 7518, section 3.1). `none` and those with a shared secret prove nothing to others. */
const ALGORITHMS: readonly string[] = [256, 384, 512].flatMap((bits) => [`RS${bits}`, `PS${bits}`, `ES${bits}`])

/** Whether signatures of an algorithm are verified. */
export function isVerified(algorithm: string): boolean {
  return ALGORITHMS.includes(algorithm)
}

/** Reads a JWS in compact form; `undefined` when the text is not one. */
export function readJws(text: string): Jws | undefined {
  const [start = '', payload = '', signature = '', ...rest] = text.split('.', 4)
  if (signature === '' || rest.length > 0 || ![start, payload, signature].every(isBase64Url)) return undefined
  const header = headerIn(start)
  return header && { header, protected: start, payload, signature }
}

function headerIn(start: string): JsonObject | undefined {
  try {
    const header: unknown = decodeProtectedHeader({ protected: start })
    return isObject(header) ? header : undefined
  } catch {
    return undefined
  }
}

/** Whether a text has the parts of a JWS, with a header that names an algorithm. */
export function hasJwsHeader(text: string): boolean {
  const [start = '', ...rest] = text.split('.', 4)
  return rest.length === 2 && headerIn(start)?.['alg'] !== undefined
}

/** Whether a text is base64url. A single character at the end encodes nothing. */
function isBase64Url(text: string): boolean {
  return /^[\w-]*$/.test(text) && text.length % 4 !== 1
}

/**
 * The problem that makes a JWS invalid for any key: each name in `crit` must be supported and in the header, and `b64` must be in `crit` when it is
 * false. Only the name `b64` is supported.
 *
 * @returns A sentence; `undefined` when there is no problem.
 * @see https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11 and https://www.rfc-editor.org/rfc/rfc7797#section-6
 */
export function criticalProblem({ header }: Jws): string | undefined {
  const { crit } = header
  const names = Array.isArray(crit) ? crit.map(String) : []
  const unknown = names.filter((name) => name !== 'b64').map(quoted)
  if (unknown.length > 0)
    return `The JWS is invalid: its header has critical parameters that are not supported: ${unknown.join(', ')} (RFC 7515, section 4.1.11).`
  if (names.includes('b64') && header['b64'] === undefined)
    return `The JWS is invalid: the critical parameter 'b64' is not in its header (RFC 7515, section 4.1.11).`
  if (header['b64'] === false && !names.includes('b64'))
    return `The JWS is invalid: 'b64' is false, so it must be a critical parameter (RFC 7797, section 6).`
  return undefined
}

/**
 * Verifies a JWS with the key of a certificate; `content` replaces a detached payload.
 *
 * @param certificate X.509, in base64 of DER.
 * @returns Why it does not verify, in a sentence; `undefined` when the key has signed it.
 */
export async function verifyProblem(jws: Jws, certificate: string, content: string): Promise<string | undefined> {
  const algorithm = stringAt(jws.header, 'alg') ?? ''
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`
  const key = await importX509(pem, algorithm).catch(() => undefined)
  if (key === undefined) return unusableKey(algorithm)
  try {
    await flattenedVerify({ protected: jws.protected, payload: payloadOf(jws, content), signature: jws.signature }, key)
    return undefined
  } catch (error) {
    return problemIn(error, algorithm)
  }
}

function payloadOf({ header, payload }: Jws, content: string): string | Uint8Array {
  if (header['b64'] === false) return new TextEncoder().encode(payload === '' ? content : payload)
  return payload === '' ? encode(content) : payload
}

/** The JSON object in the payload of a JWS; `undefined` when there is none. */
export function payloadJson({ payload }: Jws): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(decode(payload)))
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** Whether the payload of a JWS is this content. */
export function isPayload({ payload }: Jws, content: string): boolean {
  return payload === encode(content)
}

function problemIn(error: unknown, algorithm: string): string {
  if (error instanceof TypeError) return unusableKey(algorithm)
  if (!(error instanceof Error) || !('code' in error)) throw error
  if (error.code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED')
    return 'The signature does not verify: the key of the certificate did not sign this content.'
  return `The JWS is invalid: ${error.message}.`
}

/** The problem with a key of another kind, or with an RSA key of less than 2048 bits (RFC 7518, section 3.3). */
function unusableKey(algorithm: string): string {
  return `The signature does not verify: the key of the certificate cannot be used with the algorithm ${quoted(algorithm)}.`
}
