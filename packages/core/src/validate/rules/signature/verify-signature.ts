import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import type { SignatureAlgorithm } from '../../run/definitions.js'
import type { Run } from '../../run/run.js'
import { algorithmOf } from './algorithms.js'
import { bytesOf, octetsOf, toBase64 } from './base64-text.js'
import { canonicalJson, DEFAULT_CANONICALIZATION } from './canonical-json.js'
import type { Certificate } from './certificate.js'
import type { JwsHeader } from './jws-header.js'
import { signedBytes, type Jws } from './jws.js'

export const SIGNATURE: FindingDefinition = defineFinding(
  'signature',
  'information',
  'informational',
  'No action needed; decide whether to trust the certificate of the signature.',
)
export const SIGNATURE_DATA: FindingDefinition = defineFinding(
  'signature-data',
  'error',
  'invalid',
  'Put the JWS, base64-encoded, into the data of the signature.',
)
export const SIGNATURE_HEADER: FindingDefinition = defineFinding(
  'signature-header',
  'warning',
  'not-found',
  'Add the signing time (sigT) and the certificate (x5c) to the header of the JWS, and use an asymmetric algorithm.',
)
export const SIGNATURE_PAYLOAD: FindingDefinition = defineFinding(
  'signature-payload',
  'warning',
  'value',
  'Use a detached JWS, with an empty payload; the Bundle itself is the signed content.',
)
export const SIGNATURE_WRONG: FindingDefinition = defineFinding(
  'signature-wrong',
  'error',
  'value',
  'Sign the Bundle again, or revert the changes made after signing.',
)

/** A signed Bundle with one of its signatures. */
export interface SignedBundle {
  readonly run: Run
  readonly bundle: FhirNode
  readonly element: JsonObject
}

/** What was read of a Signature. */
export interface Signature {
  readonly jws: Jws
  readonly header: JwsHeader
  readonly certificate: Certificate | undefined
}

/** Tells what a signature says of itself, and whether the key of its certificate has signed the Bundle. */
export function verifySignature(place: SignedBundle, { jws, header, certificate }: Signature): void {
  const { run, bundle } = place
  const method = methodOf(place, header)
  const time = header.time ?? 'unknown'
  const text = `The signature states: algorithm ${quoted(header.algorithm)}, canonicalization ${quoted(method)}, time ${quoted(time)}.`
  run.findings.report(SIGNATURE, bundle, { text })
  const algorithm = algorithmOf(header.algorithm)
  if (algorithm === undefined) return reportUnsupported(place, `algorithm ${quoted(header.algorithm)}`)
  const content = isObject(bundle.value) ? canonicalJson(run, bundle.value, method) : undefined
  if (content === undefined) return reportUnsupported(place, `canonicalization ${quoted(method)}`)
  if (certificate !== undefined) checkKey(place, jws, { algorithm, content, certificate })
}

/** The header names the canonical form, or the target format does as a parameter. */
function methodOf({ element }: SignedBundle, { canonicalization }: JwsHeader): string {
  const inFormat = /;\s*canonicalization=([^;\s]+)/.exec(stringAt(element, 'targetFormat') ?? '')?.[1]
  return canonicalization ?? inFormat ?? DEFAULT_CANONICALIZATION
}

interface Verification {
  readonly algorithm: SignatureAlgorithm
  /** The Bundle in canonical form. */
  readonly content: string
  readonly certificate: Certificate
}

function checkKey({ run, bundle, element }: SignedBundle, jws: Jws, { algorithm, content, certificate }: Verification): void {
  const { publicKey, subject } = certificate
  const claim = { algorithm, publicKey, signature: octetsOf(jws.signature), signed: signedBytes(jws, content) }
  const isSigned = run.definitions.verifies(element, claim)
  if (isSigned === PENDING) return
  if (isSigned) {
    const text = `The key of ${quoted(subject)} verifies the signature; whether its certificate can be trusted is not checked.`
    run.findings.report(SIGNATURE, bundle, { text })
  } else {
    run.findings.report(SIGNATURE_WRONG, bundle, {
      text: 'The signature does not verify: the key of the certificate did not sign this content.',
    })
  }
  if (jws.payload !== '' && jws.payload !== toBase64(bytesOf(content))) {
    run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The payload of the JWS is not the canonical form of this Bundle.' })
  }
}

function reportUnsupported({ run, bundle }: SignedBundle, what: string): void {
  const text = `The ${what} is not supported, so the signature is not verified.`
  run.findings.report(SIGNATURE_HEADER, bundle, { text, code: 'not-supported' })
}
