import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'
import { base64Problem } from '../primitive/number-and-bytes.js'
import { equals } from '../value/compare-json.js'
import { canonicalJson, DEFAULT_CANONICALIZATION } from './canonical-json.js'
import type { CertificateDetails, Jws } from './verify-jws.js'

const SIGNATURE: FindingDefinition = defineFinding(
  'signature',
  'information',
  'informational',
  'No action needed; decide whether to trust the certificate of the signature.',
)
const SIGNATURE_DATA: FindingDefinition = defineFinding(
  'signature-data',
  'error',
  'invalid',
  'Put the JWS, base64-encoded, into the data of the signature.',
)
const SIGNATURE_HEADER: FindingDefinition = defineFinding(
  'signature-header',
  'warning',
  'not-found',
  'Add the signing time (sigT) and the certificate (x5c) to the header of the JWS, and use an asymmetric algorithm.',
)
const SIGNATURE_PAYLOAD: FindingDefinition = defineFinding(
  'signature-payload',
  'warning',
  'value',
  'Use a detached JWS, with an empty payload; the Bundle itself is the signed content.',
)
const SIGNATURE_WRONG: FindingDefinition = defineFinding(
  'signature-wrong',
  'error',
  'value',
  'Sign the Bundle again, or revert the changes made after signing.',
)

/** Signatures of Bundles. */
export const signatureRule: ResourceRule = {
  on: ['Bundle'],
  finds: [SIGNATURE, SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_PAYLOAD, SIGNATURE_WRONG],
  check: checkSignature,
}

/** A signed Bundle with its signature. */
interface SignedBundle {
  readonly run: Run
  readonly bundle: FhirNode
  readonly element: JsonObject
}

/** What the header of a JWS says about the signing; `undefined` for what it does not say. */
interface Signing {
  readonly algorithm: string
  /** As it is written: `sigT`, or the seconds of `iat` as a date. */
  readonly time: string | undefined
  /** What is wrong about the time. */
  readonly timeProblem: string | undefined
  /** The certificate of the key in base64 of DER, the first of `x5c`; empty where that is not a list of texts. */
  readonly certificate: string | undefined
  /** What it says; `undefined` when there is no certificate, or one that cannot be read. */
  readonly details: CertificateDetails | undefined
  readonly canonicalization: string | undefined
  /** Ids of the signer's commitments, `srCms`: what the content was signed for. */
  readonly purposes: readonly string[]
}

/**
 * Checks the signature of a Bundle: that it is a JWS whose key, in the certificate that comes with it, has signed this content. Whether the
 * certificate can be trusted is for others to say. Signatures in XML are over the Bundle in XML, so nothing can be said about them here.
 * A Bundle has one signature; of a list, whose form is wrong, the first is checked.
 *
 * @see https://hl7.org/fhir/R4/signatures.html
 */
async function checkSignature(run: Run, bundle: FhirNode): Promise<void> {
  const [signature] = childrenOf(run, bundle, 'signature')
  const element = signature?.value
  if (!isObject(element)) return
  const signed = { run, bundle, element }
  const data = stringAt(element, 'data')
  if (data === undefined) return noteNoData(signed)
  const isEncoded = base64Problem(data) === undefined
  // Only who meets a signature loads what verifies it.
  const { certificateDetails, criticalProblem, isVerified, readJws } = await import('./verify-jws.js')
  const jws = readJws((isEncoded ? atob(data) : data).trim())
  if (jws === undefined) return noteUnread(signed, isEncoded)
  if (stringAt(element, 'sigFormat') === undefined)
    run.findings.report(SIGNATURE, bundle, {
      text: 'The signature has no sigFormat; it looks like application/jose and is checked as that.',
      code: 'not-supported',
    })
  if (!isEncoded) run.findings.report(SIGNATURE_DATA, bundle, { text: 'The JWS must be base64-encoded; it is not.' })
  const signing = signingOf(jws.header, certificateDetails)
  checkForm(signed, jws, signing)
  checkAgreement(signed, signing)
  noteSigner(signed, signing)
  const problem = criticalProblem(jws)
  if (problem !== undefined) run.findings.report(SIGNATURE_WRONG, bundle, { text: problem })
  const content = reportStated(signed, signing, isVerified(signing.algorithm))
  if (problem === undefined && content !== undefined) await verify(signed, { jws, signing, content })
}

const JOSE = 'application/jose'
/** A signature of XML, as HL7's guides write it. */
const XML = 'application/pkcs7-signature'

function noteNoData({ run, bundle, element }: SignedBundle): void {
  const format = stringAt(element, 'sigFormat')
  if (format !== JOSE && format !== XML) return
  run.findings.report(SIGNATURE, bundle, { text: `There is no data, so the ${format} signature cannot be checked.`, code: 'not-found' })
}

/** The picture of a signature is nothing to verify. */
function noteUnread({ run, bundle, element }: SignedBundle, isEncoded: boolean): void {
  const format = stringAt(element, 'sigFormat') ?? ''
  if (format.startsWith('image/') || format === 'application/pdf') return
  if (format === JOSE) {
    const text = isEncoded
      ? 'The data of the signature is not a JWS that can be read.'
      : 'The data of the signature is neither base64 nor a JWS.'
    run.findings.report(SIGNATURE_DATA, bundle, { text, code: 'invalid' })
    return
  }
  const what = format === '' ? 'without sigFormat' : `of the format ${quoted(format)}`
  run.findings.report(SIGNATURE, bundle, {
    text: `A signature ${what} is not verified; only JWS (${JOSE}) is.`,
    ...(format !== XML && { code: 'not-supported' }),
  })
}

/** @see https://www.rfc-editor.org/rfc/rfc7515#section-4 and, for `sigT`, ETSI TS 119 182-1 */
function signingOf(header: JsonObject, detailsOf: (certificate: string) => CertificateDetails | undefined): Signing {
  const { x5c } = header
  const first: unknown = Array.isArray(x5c) ? x5c[0] : undefined
  const stated = typeof first === 'string' ? first : ''
  const certificate = x5c === undefined ? undefined : stated
  return {
    algorithm: stringAt(header, 'alg') ?? 'none',
    ...timeOf(header),
    certificate,
    details: certificate === undefined ? undefined : detailsOf(certificate),
    canonicalization: stringAt(header, 'canon'),
    purposes: objectsAt(header, 'srCms').flatMap((one) => stringAt(objectAt(one, 'commId'), 'id') ?? []),
  }
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

function timeOf({ sigT, iat }: JsonObject): Pick<Signing, 'time' | 'timeProblem'> {
  if (sigT === undefined) return iat === undefined ? { time: undefined, timeProblem: undefined } : secondsAsTime(iat)
  if (typeof sigT === 'string') return { time: sigT, timeProblem: undefined }
  return { time: undefined, timeProblem: `The signing time (sigT) ${shown(sigT)} is not a date with time and zone.` }
}

function secondsAsTime(iat: unknown): Pick<Signing, 'time' | 'timeProblem'> {
  const time = new Date(Number(iat) * 1_000)
  if (!Number.isNaN(time.getTime())) return { time: time.toISOString(), timeProblem: undefined }
  return { time: undefined, timeProblem: `The signing time (iat) ${shown(iat)} is not a number of seconds.` }
}

function shown(value: unknown): string {
  return quoted(JSON.stringify(value))
}

/** What the header says against what the element says: when it was signed, and in which canonical form. */
function checkAgreement({ run: { findings: sink }, bundle, element }: SignedBundle, { time, canonicalization }: Signing): void {
  const when = stringAt(element, 'when')
  if (time !== undefined && when !== undefined && !(DATE_TIME.test(time) && Date.parse(time) === Date.parse(when)))
    sink.report(SIGNATURE_WRONG, bundle, {
      text: `The time in the signature ${quoted(time)} is not the stated time ${quoted(when)}.`,
      code: 'business-rule',
    })
  const format = stringAt(element, 'targetFormat')
  if (format !== undefined && !/^[\w.+-]{1,127}\/[\w.+-]{1,127}(?:\s*;|$)/.test(format))
    sink.report(SIGNATURE_WRONG, bundle, { text: `The targetFormat ${quoted(format)} is not a media type.`, code: 'invalid' })
  const stated = formatCanonicalization(element)
  if (canonicalization !== undefined && stated !== undefined && stated !== canonicalization)
    sink.report(SIGNATURE_HEADER, bundle, {
      text: `The canonicalization in the signature is ${quoted(canonicalization)}, but in targetFormat ${quoted(stated)}.`,
    })
}

function formatCanonicalization(element: JsonObject): string | undefined {
  return /;\s*canonicalization=([^;\s]+)/.exec(stringAt(element, 'targetFormat') ?? '')?.[1]
}

/** Who signed is said by the certificate; the element should say the same. */
function noteSigner({ run, bundle, element }: SignedBundle, { details }: Signing): void {
  const { who } = element
  const identifier = isObject(who) ? objectAt(who, 'identifier') : undefined
  const text = signerText(details?.subject, { who, stated: stringAt(identifier, 'value') })
  if (text !== undefined) run.findings.report(SIGNATURE, bundle, { text })
}

function signerText(subject: string | undefined, { who, stated }: { who: unknown; stated: string | undefined }): string | undefined {
  if (subject === undefined)
    return who === undefined
      ? 'Neither the signature nor its element who names the signer.'
      : 'The signature itself does not name the signer.'
  if (stated === undefined) return `The subject of the certificate, ${quoted(subject)}, should also be the identifier of the signer.`
  return stated === subject
    ? undefined
    : `The identifier ${quoted(stated)} of the signer is not the subject of the certificate, ${quoted(subject)}.`
}

function checkForm(
  { run: { findings: sink }, bundle }: SignedBundle,
  { payload }: Jws,
  { time, timeProblem, details, certificate }: Signing,
): void {
  if (timeProblem !== undefined) sink.report(SIGNATURE_HEADER, bundle, { text: timeProblem, code: 'invalid' })
  else if (time === undefined) sink.report(SIGNATURE_HEADER, bundle, { text: 'The JWS header does not contain the signing time (sigT).' })
  if (details === undefined && certificate !== undefined)
    sink.report(SIGNATURE_HEADER, bundle, {
      text: 'The certificate (x5c) in the JWS header cannot be read, so the signature cannot be verified.',
      severity: 'error',
      code: 'invalid',
    })
  else if (details === undefined)
    sink.report(SIGNATURE_HEADER, bundle, {
      text: 'The JWS header does not contain a certificate (x5c), so the signature cannot be verified.',
    })
  if (payload !== '') sink.report(SIGNATURE_PAYLOAD, bundle, { text: 'The JWS includes its payload; it should be detached.' })
}

/**
 * Reports what a signature says of itself.
 *
 * @returns The Bundle in the canonical form that is signed; `undefined` when the signature cannot be verified, which is reported.
 */
function reportStated(signed: SignedBundle, signing: Signing, isVerified: boolean): string | undefined {
  const { run, bundle, element } = signed
  const { algorithm, time, canonicalization } = signing
  const method = canonicalization ?? formatCanonicalization(element) ?? DEFAULT_CANONICALIZATION
  const stated = `algorithm ${quoted(algorithm)}, canonicalization ${quoted(method)}, time ${quoted(time ?? 'unknown')}`
  const text = `The signature states: ${stated}${purposeText(element, signing)}.`
  run.findings.report(SIGNATURE, bundle, { text })
  if (signing.details !== undefined) run.findings.report(SIGNATURE, bundle, { text: certificateText(signing.details) })
  if (!isVerified) return reportAlgorithm(signed, algorithm)
  const content = isObject(bundle.value) ? canonicalJson(run, bundle.value, method) : undefined
  return content ?? reportUnsupported(signed, `canonicalization ${quoted(method)}`)
}

function certificateText({ subject, issuer, serialNumber }: CertificateDetails): string {
  return `The certificate states: subject ${quoted(subject)}, issuer ${quoted(issuer)}, serial number ${serialNumber}.`
}

/** The purpose is signed where the header of the JWS has it; the type of the element is outside of what is signed. */
function purposeText(element: JsonObject, { purposes }: Signing): string {
  if (purposes.length > 0) return `, purpose ${purposes.map(quoted).join(' and ')}`
  const types = objectsAt(element, 'type').flatMap((one) => stringAt(one, 'code') ?? [])
  return types.length === 0 ? '' : `, purpose ${types.map(quoted).join(' and ')}, which is not signed`
}

/** `none`, and what needs a secret that the reader has too, prove nothing about the signer (RFC 7518, sections 3.2 and 3.6). */
const NO_PROOF = /^(?:none|HS\d+)$/

function reportAlgorithm(signed: SignedBundle, algorithm: string): undefined {
  if (!NO_PROOF.test(algorithm)) return reportUnsupported(signed, `algorithm ${quoted(algorithm)}`)
  const text = `The signature is invalid: the algorithm ${quoted(algorithm)} does not prove who signed.`
  signed.run.findings.report(SIGNATURE_WRONG, signed.bundle, { text, code: 'exception' })
}

function reportUnsupported({ run, bundle }: SignedBundle, what: string): undefined {
  const text = `The ${what} is not supported, so the signature is not verified.`
  run.findings.report(SIGNATURE_HEADER, bundle, { text, code: 'not-supported' })
}

interface Verification {
  readonly jws: Jws
  readonly signing: Signing
  /** The Bundle in canonical form. */
  readonly content: string
}

async function verify({ run, bundle }: SignedBundle, { jws, signing, content }: Verification): Promise<void> {
  const { certificate, details } = signing
  if (certificate === undefined || details === undefined) return
  const { isPayload, payloadJson, verifyProblem } = await import('./verify-jws.js')
  const problem = await verifyProblem(jws, certificate, content)
  if (problem === undefined) {
    const text = `The key of ${quoted(details.subject)} verifies the signature; whether its certificate can be trusted is not checked.`
    run.findings.report(SIGNATURE, bundle, { text })
  } else {
    run.findings.report(SIGNATURE_WRONG, bundle, { text: problem })
  }
  if (jws.payload !== '' && !isPayload(jws, content)) {
    run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The payload of the JWS is not the canonical form of this Bundle.' })
    notePayload({ run, bundle }, payloadJson(jws), content)
  }
}

/** Whether the payload has the same JSON as the Bundle, so that only its form differs. */
function notePayload({ run, bundle }: Pick<SignedBundle, 'run' | 'bundle'>, payload: JsonObject | undefined, content: string): void {
  if (payload === undefined)
    return run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The payload of the JWS is not a JSON object.', code: 'exception' })
  const same = equals(JSON.parse(content), payload)
  run.findings.report(SIGNATURE, bundle, {
    text: same
      ? 'The payload is the same JSON as the canonical form, but written differently.'
      : 'The JSON of the payload differs from the canonical form.',
    ...(!same && { code: 'value' }),
  })
}
