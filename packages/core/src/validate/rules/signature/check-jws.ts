import { decode, encode } from 'jose/base64url'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { flattenedVerify } from 'jose/jws/flattened/verify'
import { importX509 } from 'jose/key/import'
import { quoted } from '../../../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject, isObject } from '../../../json/index.js'
import { equals } from '../value/check-value.js'
import {
  textInBase64,
  certificateDetails,
  checkAgreement,
  checkCertificate,
  reportUnsupported,
  reportVerified,
  statedContent,
  type SignedBundle,
  type Signing,
} from './signed-bundle.js'
import { SIGNATURE, SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_PAYLOAD, SIGNATURE_WRONG } from './findings.js'

/** Checks a signature that is a JWS, or may be one. */
export async function checkJws(signed: SignedBundle, data: string): Promise<void> {
  const { run, bundle, element } = signed
  const encoded = textInBase64(data)
  const text = (encoded ?? data).trim()
  const jws = readJws(text)
  if (jws === undefined) return reportUnread(signed, { text, isEncoded: encoded !== undefined })
  if (stringAt(element, 'sigFormat') === undefined)
    run.findings.report(SIGNATURE, bundle, {
      text: 'The signature has no sigFormat; it looks like application/jose and is checked as that.',
      code: 'not-supported',
    })
  if (encoded === undefined) run.findings.report(SIGNATURE_DATA, bundle, { text: 'The JWS must be base64-encoded; it is not.' })
  const { timeProblem, ...signing } = signingOf(jws.header)
  checkForm(signed, { jws, signing, timeProblem })
  checkAgreement(signed, signing)
  const problem = criticalProblem(jws)
  if (problem !== undefined) run.findings.report(SIGNATURE_WRONG, bundle, { text: problem })
  const content = statedContent(signed, signing)
  if (!isVerified(signing.algorithm)) reportAlgorithm(signed, signing.algorithm)
  else if (problem === undefined && content !== undefined) await verify(signed, { jws, signing, content })
}

/** Reports data that is not a JWS. Without a format, data that does not begin like a JWS need not be one. */
function reportUnread({ run, bundle, element }: SignedBundle, { text, isEncoded }: { text: string; isEncoded: boolean }): void {
  if (stringAt(element, 'sigFormat') === undefined && !hasJwsHeader(text)) {
    run.findings.report(SIGNATURE, bundle, { text: 'A signature without sigFormat is not verified.', code: 'not-supported' })
    return
  }
  run.findings.report(SIGNATURE_DATA, bundle, {
    text: isEncoded ? 'The data of the signature is not a JWS that can be read.' : 'The data of the signature is neither base64 nor a JWS.',
  })
}

/** @see https://www.rfc-editor.org/rfc/rfc7515#section-4 and, for `sigT`, ETSI TS 119 182-1 */
function signingOf(header: JsonObject): Signing & StatedTime {
  const { x5c } = header
  const first: unknown = Array.isArray(x5c) ? x5c[0] : undefined
  const stated = typeof first === 'string' ? first : ''
  const certificate = x5c === undefined ? undefined : stated
  return {
    algorithm: stringAt(header, 'alg') ?? 'none',
    ...timeOf(header),
    certificate,
    details: certificate === undefined ? undefined : certificateDetails(certificate),
    canonicalization: stringAt(header, 'canon'),
    format: 'json',
    purposes: objectsAt(header, 'srCms').flatMap((one) => stringAt(objectAt(one, 'commId'), 'id') ?? []),
  }
}

interface StatedTime {
  readonly time: string | undefined
  /** The problem with the time. */
  readonly timeProblem: string | undefined
}

/** The signing time. A time in seconds is used even if that is not its correct form. */
function timeOf({ sigT, iat }: JsonObject): StatedTime {
  if (sigT === undefined) {
    const time = secondsAsTime(iat)
    const timeProblem =
      iat === undefined || time !== undefined ? undefined : `The signing time (iat) ${shown(iat)} is not a number of seconds.`
    return { time, timeProblem }
  }
  const time = secondsAsTime(sigT)
  if (typeof sigT === 'string' && time === undefined) return { time: sigT, timeProblem: undefined }
  return { time, timeProblem: `The signing time (sigT) ${shown(sigT)} is not a date with time and zone.` }
}

function secondsAsTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' && !(typeof seconds === 'string' && /^\d{1,15}$/.test(seconds))) return undefined
  const time = new Date(Math.trunc(Number(seconds)) * 1_000)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

function shown(value: unknown): string {
  return quoted(JSON.stringify(value))
}

interface Form {
  readonly jws: Jws
  readonly signing: Signing
  readonly timeProblem: string | undefined
}

function checkForm(signed: SignedBundle, { jws: { payload }, signing, timeProblem }: Form): void {
  const { findings } = signed.run
  if (timeProblem !== undefined) findings.report(SIGNATURE_HEADER, signed.bundle, { text: timeProblem, code: 'invalid' })
  else if (signing.time === undefined)
    findings.report(SIGNATURE_HEADER, signed.bundle, { text: 'The JWS header does not contain the signing time (sigT).' })
  checkCertificate(signed, signing, 'x5c')
  if (payload !== '') findings.report(SIGNATURE_PAYLOAD, signed.bundle, { text: 'The JWS includes its payload; it should be detached.' })
}

/** `none` and algorithms with a shared secret, which prove nothing about the signer (RFC 7518, sections 3.2 and 3.6). */
const NO_PROOF = /^(?:none|HS\d+)$/

function reportAlgorithm(signed: SignedBundle, algorithm: string): void {
  if (!NO_PROOF.test(algorithm)) return reportUnsupported(signed, `algorithm ${quoted(algorithm)}`)
  const text = `The signature is invalid: the algorithm ${quoted(algorithm)} does not prove who signed.`
  signed.run.findings.report(SIGNATURE_WRONG, signed.bundle, { text, code: 'exception' })
}

interface Verification {
  readonly jws: Jws
  readonly signing: Signing
  /** The Bundle in canonical form. */
  readonly content: string
}

async function verify(signed: SignedBundle, { jws, signing: { certificate, details }, content }: Verification): Promise<void> {
  if (certificate === undefined || details === undefined) return
  const { run, bundle } = signed
  const problem = await verifyProblem(jws, certificate, content)
  if (problem === undefined) reportVerified(signed, details)
  else run.findings.report(SIGNATURE_WRONG, bundle, { text: problem })
  if (jws.payload !== '' && !isPayload(jws, content)) {
    run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The payload of the JWS is not the canonical form of this Bundle.' })
    notePayload(signed, payloadJson(jws), content)
  }
}

/** Reports whether the payload has the same JSON as the Bundle and only its form differs. */
function notePayload({ run, bundle }: SignedBundle, payload: JsonObject | undefined, content: string): void {
  if (payload === undefined)
    return run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The payload of the JWS is not a JSON object.', code: 'exception' })
  const same = content.startsWith('{') && equals(JSON.parse(content), payload)
  run.findings.report(SIGNATURE, bundle, {
    text: same
      ? 'The payload is the same JSON as the canonical form, but written differently.'
      : 'The JSON of the payload differs from the canonical form.',
    ...(!same && { code: 'value' }),
  })
}

/** A JWS in compact form with a readable header. */
interface Jws {
  readonly header: JsonObject
  /** The three parts as they were sent, in base64url; the payload is empty if it is detached. */
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

/** Algorithms that are verified (RFC 7518, section 3.1). `none` and those with a shared secret prove nothing to others. */
const ALGORITHMS: readonly string[] = [256, 384, 512].flatMap((bits) => [`RS${bits}`, `PS${bits}`, `ES${bits}`])

/** Whether signatures of an algorithm are verified. */
function isVerified(algorithm: string): boolean {
  return ALGORITHMS.includes(algorithm)
}

/** Reads a JWS in compact form; `undefined` when the text is not one. */
function readJws(text: string): Jws | undefined {
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
function hasJwsHeader(text: string): boolean {
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
function criticalProblem({ header }: Jws): string | undefined {
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
async function verifyProblem(jws: Jws, certificate: string, content: string): Promise<string | undefined> {
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
function payloadJson({ payload }: Jws): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(decode(payload)))
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

/** Whether the payload of a JWS is this content. */
function isPayload({ payload }: Jws, content: string): boolean {
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
