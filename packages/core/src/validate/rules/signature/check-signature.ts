import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { childrenOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'
import { base64Problem } from '../primitive/number-and-bytes.js'
import { fromBase64 } from './base64-text.js'
import { readCertificate } from './certificate.js'
import { readHeader } from './jws-header.js'
import { readJws } from './jws.js'
import {
  SIGNATURE,
  SIGNATURE_DATA,
  SIGNATURE_HEADER,
  SIGNATURE_PAYLOAD,
  SIGNATURE_WRONG,
  verifySignature,
  type Signature,
  type SignedBundle,
} from './verify-signature.js'

/** Signatures of Bundles. */
export const signatureRule: ResourceRule = {
  on: ['Bundle'],
  finds: [SIGNATURE, SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_PAYLOAD, SIGNATURE_WRONG],
  check: checkSignature,
}

/**
 * Checks the signature of a Bundle: that it is a JWS whose key, in the certificate that comes with it, has signed this content. Whether the
 * certificate can be trusted is for others to say. Signatures in XML are over the Bundle in XML, so nothing can be said about them here.
 *
 * @see https://hl7.org/fhir/R4/signatures.html
 */
function checkSignature(run: Run, bundle: FhirNode): void {
  for (const { value: element } of childrenOf(run, bundle, 'signature')) {
    if (isObject(element)) checkElement(run, bundle, element)
  }
}

function checkElement(run: Run, bundle: FhirNode, element: JsonObject): void {
  const data = stringAt(element, 'data')
  if (data === undefined) return
  const isEncoded = base64Problem(data) === undefined
  const jws = readJws(isEncoded ? fromBase64(data) : data)
  if (jws === undefined) return noteFormat({ run, bundle, element })
  if (!isEncoded) run.findings.report(SIGNATURE_DATA, bundle, { text: 'The JWS must be base64-encoded; it is not.' })
  const header = readHeader(jws.header)
  const certificate = header.certificate === undefined ? undefined : readCertificate(header.certificate)
  checkForm({ run, bundle, element }, { jws, header, certificate })
  verifySignature({ run, bundle, element }, { jws, header, certificate })
}

/** The picture of a signature is nothing to verify. */
function noteFormat({ run, bundle, element }: SignedBundle): void {
  const format = stringAt(element, 'sigFormat') ?? ''
  if (format.startsWith('image/')) return
  run.findings.report(SIGNATURE, bundle, {
    text: `A signature of the format ${quoted(format)} is not verified; only JWS (application/jose) is.`,
  })
}

function checkForm({ run: { findings: sink }, bundle }: SignedBundle, { jws, header, certificate }: Signature): void {
  const { time, timeProblem, notUnderstood } = header
  if (timeProblem !== undefined) sink.report(SIGNATURE_HEADER, bundle, { text: timeProblem, code: 'invalid' })
  else if (time === undefined) sink.report(SIGNATURE_HEADER, bundle, { text: 'The JWS header does not contain the signing time (sigT).' })
  if (certificate === undefined)
    sink.report(SIGNATURE_HEADER, bundle, {
      text: 'The JWS header does not contain a certificate (x5c), so the signature cannot be verified.',
    })
  if (jws.payload !== '') sink.report(SIGNATURE_PAYLOAD, bundle, { text: 'The JWS includes its payload; it should be detached.' })
  if (notUnderstood.length > 0) {
    const text = `The JWS header has critical parameters that are not supported: ${notUnderstood.map(quoted).join(', ')}.`
    sink.report(SIGNATURE_WRONG, bundle, { text })
  }
}
