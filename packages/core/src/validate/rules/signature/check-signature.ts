import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { childrenOf } from '../../run/nodes.js'
import type { ResourceRule, Run } from '../../run/run.js'
import { SIGNATURE, SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_PAYLOAD, SIGNATURE_WRONG } from './findings.js'
import type { SignedBundle } from './signed-bundle.js'

/** Signatures of Bundles. */
export const signatureRule: ResourceRule = {
  on: ['Bundle'],
  finds: [SIGNATURE, SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_PAYLOAD, SIGNATURE_WRONG],
  check: checkSignature,
}

const JOSE = 'application/jose'
/** The format of XML signatures in HL7's guides. */
const XML = 'application/pkcs7-signature'

/**
 * Checks the signature of a Bundle: a JWS or an XML signature of this content, made with the key of the certificate that it contains. It does not check
 * whether the certificate can be trusted. A signature without a format may be a JWS. A Bundle has one signature; of a list, which is an error in itself,
 * the first is checked.
 *
 * @see https://hl7.org/fhir/R4/signatures.html
 */
async function checkSignature(run: Run, bundle: FhirNode): Promise<void> {
  const [signature] = childrenOf(run, bundle, 'signature')
  const element = signature?.value
  if (!isObject(element)) return
  const signed = { run, bundle, element }
  const [data, stated] = [stringAt(element, 'data'), stringAt(element, 'sigFormat')]
  if (stated !== undefined && stated !== XML && stated !== JOSE) return noteFormat(signed, stated)
  if (data === undefined) return noteNoData(signed, stated)
  // The code for verification is loaded only when there is a signature.
  if (stated === XML) return (await import('./check-xml-signature.js')).checkXmlSignature(signed, data)
  return (await import('./check-jws.js')).checkJws(signed, data)
}

function noteNoData({ run, bundle }: SignedBundle, format: string | undefined): void {
  if (format === undefined) return
  run.findings.report(SIGNATURE, bundle, { text: `There is no data, so the ${format} signature cannot be checked.`, code: 'not-found' })
}

/** Reports a format that cannot be verified. A picture of a signature need not be. */
function noteFormat({ run, bundle }: SignedBundle, format: string): void {
  if (format.startsWith('image/') || format === 'application/pdf') return
  run.findings.report(SIGNATURE, bundle, {
    text: `A signature of the format ${quoted(format)} is not verified; only JWS (${JOSE}) and signatures in XML (${XML}) are.`,
    code: 'not-supported',
  })
}
