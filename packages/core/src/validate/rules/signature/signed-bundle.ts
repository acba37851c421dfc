import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { canonicalForm, defaultMethod } from './canonical-form.js'
import type { CertificateDetails } from './certificate.js'
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
