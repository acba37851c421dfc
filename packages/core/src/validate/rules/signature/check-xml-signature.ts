import { quoted } from '../../../errors/index.js'
import { textInBase64 } from './base64.js'
import { certificateDetails } from './certificate.js'
import { SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_WRONG } from './findings.js'
import { attributeOf, elementAlong, readXml, xmlText, type XmlElement } from './read-xml.js'
import {
  checkAgreement,
  checkCertificate,
  reportUnsupported,
  reportVerified,
  statedContent,
  type SignedBundle,
  type Signing,
} from './signed-bundle.js'
import {
  hasDigest,
  hasDigestOf,
  isSignedBy,
  provesNothing,
  readSignature,
  unsupportedMethod,
  withoutSpace,
  type XmlSignature,
} from './verify-xml.js'

/** Checks an XML signature of the Bundle in XML. */
export async function checkXmlSignature(signed: SignedBundle, data: string): Promise<void> {
  const { run, bundle } = signed
  const text = textInBase64(data)
  if (text === undefined)
    return run.findings.report(SIGNATURE_DATA, bundle, { text: 'The data of the signature is not base64.', severity: 'warning' })
  const root = readXml(text)
  if (root === undefined)
    return run.findings.report(SIGNATURE_DATA, bundle, { text: 'The data of the signature is not XML that can be read.' })
  const signature = readSignature(root)
  const signing = signingOf(root, signature)
  if (signing.time === undefined)
    run.findings.report(SIGNATURE_HEADER, bundle, { text: 'The signature does not contain the signing time (SigningTime).' })
  checkCertificate(signed, signing, 'X509Certificate')
  checkAgreement(signed, signing)
  const problem = referenceProblem(signature)
  if (problem !== undefined) run.findings.report(SIGNATURE_WRONG, bundle, { text: problem, code: 'not-supported' })
  const content = statedContent(signed, signing)
  const unsupported = unsupportedMethod(signature)
  if (provesNothing(signature))
    run.findings.report(SIGNATURE_WRONG, bundle, {
      text: `The signature is invalid: the algorithm ${quoted(signature.algorithm)} does not prove who signed.`,
    })
  else if (unsupported !== undefined) reportUnsupported(signed, `method ${quoted(unsupported)}`)
  else if (problem === undefined && content !== undefined) await verify(signed, { signature, signing, content })
}

function signingOf(root: XmlElement, { properties, algorithm }: XmlSignature): Signing {
  const stated = elementAlong(root, 'KeyInfo', 'X509Data', 'X509Certificate')
  const certificate = stated && withoutSpace(xmlText(stated))
  const transform = elementAlong(root, 'SignedInfo', 'Reference', 'Transforms', 'Transform')
  const purpose = elementAlong(properties, 'SignedDataObjectProperties', 'CommitmentTypeIndication', 'CommitmentTypeId', 'Identifier')
  return {
    algorithm,
    time: timeOf(root, properties),
    certificate,
    details: certificate === undefined ? undefined : certificateDetails(certificate),
    canonicalization: attributeOf(transform, 'Algorithm'),
    format: 'xml',
    purposes: purpose === undefined ? [] : [xmlText(purpose)],
  }
}

/** The signing time in the signed properties or else in the unsigned ones. */
function timeOf(root: XmlElement, properties: XmlElement | undefined): string | undefined {
  const time =
    elementAlong(properties, 'SignedSignatureProperties', 'SigningTime') ??
    elementAlong(root, 'Object', 'SignatureProperties', 'SignatureProperty', 'SigningTime')
  return time && xmlText(time)
}

const SIGNED_PROPERTIES = 'http://uri.etsi.org/01903#SignedProperties'

/** The problem with the references of a signature. It must be over the Bundle, which is `#`, and may be over its own properties. */
function referenceProblem({ references }: XmlSignature): string | undefined {
  const [content, properties, ...rest] = references
  if (content === undefined) return 'The signature does not say what is signed: there is no Reference.'
  if (rest.length > 0) return `The signature is over ${references.length} things; the Bundle and its own properties are supported.`
  if (content.uri !== '#') return `The signature is over ${quoted(content.uri)}; the Bundle would be '#'.`
  if (properties === undefined || properties.type === SIGNED_PROPERTIES) return undefined
  return `The signature is over something of the type ${quoted(properties.type ?? '')}; its own properties would be of ${SIGNED_PROPERTIES}.`
}

interface Verification {
  readonly signature: XmlSignature
  readonly signing: Signing
  /** The Bundle in canonical form. */
  readonly content: string
}

async function verify(signed: SignedBundle, { signature, signing: { certificate, details }, content }: Verification): Promise<void> {
  if (certificate === undefined || details === undefined) return
  const { run, bundle } = signed
  if (signature.value === undefined)
    return run.findings.report(SIGNATURE_WRONG, bundle, { text: 'The signature has no SignatureValue.', code: 'not-found' })
  const problems = [...(await digestProblems(signature, content))]
  if (!(await isSignedBy(signature, certificate)))
    problems.push('The signature does not verify: the key of the certificate did not sign its SignedInfo.')
  for (const text of problems) run.findings.report(SIGNATURE_WRONG, bundle, { text })
  if (problems.length === 0) reportVerified(signed, details)
}

async function digestProblems({ references, properties }: XmlSignature, content: string): Promise<readonly string[]> {
  const [ofContent, ofProperties] = references
  const problems: string[] = []
  if (ofContent !== undefined && !(await hasDigest(ofContent, content)))
    problems.push('The digest in the signature is not that of this Bundle, which was changed after signing.')
  if (ofProperties !== undefined && !(properties && (await hasDigestOf(ofProperties, properties))))
    problems.push('The digest in the signature is not that of its signed properties.')
  return problems
}
