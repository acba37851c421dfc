import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { base64Problem } from '../primitive/number-and-bytes.js'
import { canonicalForm, defaultMethod } from './canonical-form.js'
import { SIGNATURE, SIGNATURE_HEADER, SIGNATURE_WRONG } from './findings.js'

/** A signed Bundle with its signature. */
export interface SignedBundle {
  readonly run: Run
  readonly bundle: FhirNode
  readonly element: JsonObject
}

/** The statements of a signature about the signing; `undefined` for those that it lacks. */
export interface Signing {
  readonly algorithm: string
  /** As it was written; seconds are converted to a date. */
  readonly time: string | undefined
  /** The certificate of the key, in base64 of DER; empty when something else is in its place. */
  readonly certificate: string | undefined
  /** The details of the certificate; `undefined` when there is none, or it cannot be read. */
  readonly details: CertificateDetails | undefined
  readonly canonicalization: string | undefined
  /** The format that is signed when neither the signature nor its element names a canonical form. */
  readonly format: 'json' | 'xml'
  /** Ids of the signer's commitments: what the content was signed for. */
  readonly purposes: readonly string[]
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** Checks that a signature agrees with its element about the time, the canonical form and the signer. */
export function checkAgreement(signed: SignedBundle, { time, canonicalization, details }: Signing): void {
  const { findings } = signed.run
  const { bundle, element } = signed
  const when = stringAt(element, 'when')
  if (time !== undefined && when !== undefined && !(DATE_TIME.test(time) && Date.parse(time) === Date.parse(when)))
    findings.report(SIGNATURE_WRONG, bundle, {
      text: `The time in the signature ${quoted(time)} is not the stated time ${quoted(when)}.`,
      code: 'business-rule',
    })
  const format = stringAt(element, 'targetFormat')
  if (format !== undefined && !/^[\w.+-]{1,127}\/[\w.+-]{1,127}(?:\s*;|$)/.test(format))
    findings.report(SIGNATURE_WRONG, bundle, { text: `The targetFormat ${quoted(format)} is not a media type.`, code: 'invalid' })
  const stated = formatCanonicalization(element)
  if (canonicalization !== undefined && stated !== undefined && stated !== canonicalization)
    findings.report(SIGNATURE_HEADER, bundle, {
      text: `The canonicalization in the signature is ${quoted(canonicalization)}, but in targetFormat ${quoted(stated)}.`,
    })
  const signer = signerText(details, element)
  if (signer !== undefined) findings.report(SIGNATURE, bundle, { text: signer })
}

/** Reports a certificate that is missing or cannot be read. */
export function checkCertificate({ run, bundle }: SignedBundle, { details, certificate }: Signing, place: string): void {
  if (details !== undefined) return
  const fault = certificate === undefined ? ({} as const) : ({ severity: 'error', code: 'invalid' } as const)
  const text =
    certificate === undefined
      ? `There is no certificate (${place}), so the signature cannot be verified.`
      : `The certificate (${place}) cannot be read, so the signature cannot be verified.`
  run.findings.report(SIGNATURE_HEADER, bundle, { text, ...fault })
}

function formatCanonicalization(element: JsonObject): string | undefined {
  return /;\s*canonicalization=([^;\s]+)/.exec(stringAt(element, 'targetFormat') ?? '')?.[1]
}

/** The problem with the signer: the element should name the subject of the certificate. */
function signerText(details: CertificateDetails | undefined, { who }: JsonObject): string | undefined {
  if (details === undefined)
    return who === undefined
      ? 'Neither the signature nor its element who names the signer.'
      : 'The signature itself does not name the signer.'
  const stated = isObject(who) ? stringAt(objectAt(who, 'identifier'), 'value') : undefined
  const { subject, subjectName } = details
  if (stated === undefined) return `The subject of the certificate, ${quoted(subjectName)}, should also be the identifier of the signer.`
  return stated === subject || stated === subjectName
    ? undefined
    : `The identifier ${quoted(stated)} of the signer is not the subject of the certificate, ${quoted(subjectName)}.`
}

/**
 * Reports the statements of a signature.
 *
 * @returns The Bundle in the signed canonical form; `undefined` when that form is not known, which is reported.
 */
export function statedContent(signed: SignedBundle, signing: Signing): string | undefined {
  const { run, bundle, element } = signed
  const { algorithm, time, canonicalization } = signing
  const method = canonicalization ?? formatCanonicalization(element) ?? defaultMethod(formatOf(signed, signing), textOf(bundle, 'type'))
  const stated = `algorithm ${quoted(algorithm)}, canonicalization ${quoted(method)}, time ${quoted(time ?? 'unknown')}`
  const text = `The signature states: ${stated}${purposeText(element, signing)}.`
  run.findings.report(SIGNATURE, bundle, { text })
  if (signing.details !== undefined) run.findings.report(SIGNATURE, bundle, { text: certificateText(signing.details) })
  const content = canonicalForm(run, bundle, method)
  if (content === undefined) reportUnsupported(signed, `canonicalization ${quoted(method)}`)
  return content
}

function formatOf({ element }: SignedBundle, { format }: Signing): 'json' | 'xml' {
  const target = stringAt(element, 'targetFormat')
  if (target === undefined) return format
  return /^[^;]*xml/.test(target) ? 'xml' : 'json'
}

function certificateText({ subject, issuer, serialNumber }: CertificateDetails): string {
  return `The certificate states: subject ${quoted(subject)}, issuer ${quoted(issuer)}, serial number ${serialNumber}.`
}

/** The purpose, for a message. It is signed if the signature contains it; the type of the element is not. */
function purposeText(element: JsonObject, { purposes }: Signing): string {
  if (purposes.length > 0) return `, purpose ${purposes.map(quoted).join(' and ')}`
  const types = objectsAt(element, 'type').flatMap((one) => stringAt(one, 'code') ?? [])
  return types.length === 0 ? '' : `, purpose ${types.map(quoted).join(' and ')}, which is not signed`
}

/** Reports that a signature is not verified, and what is not supported. */
export function reportUnsupported({ run, bundle }: SignedBundle, what: string): void {
  const text = `The ${what} is not supported, so the signature is not verified.`
  run.findings.report(SIGNATURE_HEADER, bundle, { text, code: 'not-supported' })
}

/** Reports that the key of a certificate has signed the Bundle. */
export function reportVerified({ run, bundle }: SignedBundle, { subject }: CertificateDetails): void {
  const text = `The key of ${quoted(subject)} verifies the signature; whether its certificate can be trusted is not checked.`
  run.findings.report(SIGNATURE, bundle, { text })
}

/** A value in DER. */
interface Der {
  readonly tag: number
  readonly content: Uint8Array
  readonly end: number
}

const VERSION = 0xa0

/** Keywords of RFC 2253 for attributes of names, by object identifier in DER. */
const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['85,4,3', 'CN'],
  ['85,4,6', 'C'],
  ['85,4,7', 'L'],
  ['85,4,8', 'ST'],
  ['85,4,9', 'STREET'],
  ['85,4,10', 'O'],
  ['85,4,11', 'OU'],
  ['9,146,38,137,147,242,44,100,1,1', 'UID'],
  ['9,146,38,137,147,242,44,100,1,25', 'DC'],
])

/** The details that a certificate states. */
interface CertificateDetails {
  /** The last common name of the subject; empty when there is none. */
  readonly subject: string
  /** The whole name of the subject, as RFC 2253 writes it. */
  readonly subjectName: string
  /** The last common name of the issuer; empty when there is none. */
  readonly issuer: string
  /** In hexadecimal digits. */
  readonly serialNumber: string
}

/**
 * The details in an X.509 certificate, given as base64 of DER. None of them is verified.
 *
 * @returns `undefined` when it is not a certificate.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function certificateDetails(certificate: string): CertificateDetails | undefined {
  const parts = signedParts(certificate)
  const [serialNumber, , issuer, , subject, publicKey] = parts[0]?.tag === VERSION ? parts.slice(1) : parts
  if (serialNumber === undefined || issuer === undefined || subject === undefined || publicKey === undefined) return undefined
  return {
    subject: commonName(subject),
    subjectName: wholeName(subject),
    issuer: commonName(issuer),
    serialNumber: hexadecimal(serialNumber.content),
  }
}

function hexadecimal(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('')
}

/** The parts that the issuer has signed: version, serial number, algorithm, issuer, validity, subject, key. */
function signedParts(certificate: string): readonly Der[] {
  const [whole] = valuesIn(octetsIn(certificate))
  const [signed] = whole ? valuesIn(whole.content) : []
  return signed ? valuesIn(signed.content) : []
}

/** The values in a sequence; empty when they are not well-formed. */
function valuesIn(octets: Uint8Array): readonly Der[] {
  const values: Der[] = []
  for (let at = 0; at < octets.length;) {
    const value = valueAt(octets, at)
    if (value === undefined || value.end > octets.length) return []
    values.push(value)
    at = value.end
  }
  return values
}

function valueAt(octets: Uint8Array, start: number): Der | undefined {
  const [tag, first] = octets.subarray(start, start + 2)
  if (tag === undefined || first === undefined) return undefined
  const digits = first < 0x80 ? 0 : first - 0x80
  if (digits > 4) return undefined
  const content = start + 2 + digits
  const end = content + (digits === 0 ? first : octets.subarray(start + 2, content).reduce((sum, octet) => sum * 256 + octet, 0))
  return { tag, content: octets.subarray(content, end), end }
}

/** The last common name in a name, which is a list of sets of pairs of an object identifier and a text. */
function commonName(name: Der): string {
  return (
    valuesIn(name.content)
      .flatMap(attributesIn)
      .findLast(({ keyword }) => keyword === 'CN')?.text ?? ''
  )
}

/** @see https://www.rfc-editor.org/rfc/rfc2253#section-2 */
function wholeName(name: Der): string {
  const sets = valuesIn(name.content).map((set) => attributesIn(set).map(({ keyword, text }) => `${keyword}=${escapedText(text)}`))
  return sets
    .toReversed()
    .map((set) => set.join('+'))
    .join()
}

function escapedText(text: string): string {
  return text.replaceAll(/[,+"\\<>;]|^[# ]| $/g, (character) => `\\${character}`)
}

/** The attributes that have a keyword. */
function attributesIn(set: Der): readonly { readonly keyword: string; readonly text: string }[] {
  return valuesIn(set.content).flatMap((pair) => {
    const [type, value] = valuesIn(pair.content)
    const keyword = KEYWORDS.get(type?.content.join() ?? '')
    return keyword === undefined || value === undefined ? [] : [{ keyword, text: new TextDecoder().decode(value.content) }]
  })
}

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
