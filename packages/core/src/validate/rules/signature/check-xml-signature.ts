import { importX509 } from 'jose/key/import'
import { quoted } from '../../../errors/index.js'
import {
  textInBase64,
  octetsIn,
  certificateDetails,
  checkAgreement,
  checkCertificate,
  reportUnsupported,
  reportVerified,
  statedContent,
  type SignedBundle,
  type Signing,
} from './signed-bundle.js'
import { SIGNATURE_DATA, SIGNATURE_HEADER, SIGNATURE_WRONG } from './findings.js'
import {
  attributeOf,
  canonicalElement,
  type CanonicalXmlMethod,
  elementAlong,
  elementsIn,
  readXml,
  type XmlElement,
  xmlText,
} from './canonical-form.js'

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

/** A reference in an XML signature: the digest of something that is signed. */
interface XmlReference {
  readonly uri: string
  readonly type: string | undefined
  readonly digestMethod: string
  readonly digest: string
}

/** An XML signature, as far as its parts are present. */
interface XmlSignature {
  readonly signedInfo: XmlElement | undefined
  readonly references: readonly XmlReference[]
  readonly algorithm: string
  readonly canonicalization: string
  /** In base64. */
  readonly value: string | undefined
  /** Signed properties besides the content: the time and the purpose (XAdES). */
  readonly properties: XmlElement | undefined
}

/** @see https://www.w3.org/TR/xmldsig-core1/ and ETSI EN 319 132-1 */
function readSignature(root: XmlElement): XmlSignature {
  const signedInfo = elementAlong(root, 'SignedInfo')
  const value = elementAlong(root, 'SignatureValue')
  return {
    signedInfo,
    references: signedInfo === undefined ? [] : elementsIn(signedInfo, 'Reference').map(readReference),
    algorithm: attributeOf(elementAlong(signedInfo, 'SignatureMethod'), 'Algorithm') ?? '',
    canonicalization: attributeOf(elementAlong(signedInfo, 'CanonicalizationMethod'), 'Algorithm') ?? '',
    value: value && withoutSpace(xmlText(value)),
    properties: elementAlong(root, 'Object', 'QualifyingProperties', 'SignedProperties'),
  }
}

function readReference(reference: XmlElement): XmlReference {
  const digest = elementAlong(reference, 'DigestValue')
  return {
    uri: attributeOf(reference, 'URI') ?? '',
    type: attributeOf(reference, 'Type'),
    digestMethod: attributeOf(elementAlong(reference, 'DigestMethod'), 'Algorithm') ?? '',
    digest: digest === undefined ? '' : withoutSpace(xmlText(digest)),
  }
}

/** Removes white space, because base64 may be written in lines. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '')
}

const DIGESTS: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'SHA-256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'SHA-384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'SHA-512'],
])

const CANONICALIZATIONS: ReadonlyMap<string, CanonicalXmlMethod> = new Map([
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', 'inclusive'],
  ['http://www.w3.org/2006/12/xml-c14n11', 'inclusive'],
  ['http://www.w3.org/2001/10/xml-exc-c14n#', 'exclusive'],
])

const ALGORITHM = /^http:\/\/www\.w3\.org\/2001\/04\/xmldsig-more#(rsa|ecdsa)-sha(256|384|512)$/

/** True for an algorithm with a shared secret, which proves nothing about the signer. */
function provesNothing({ algorithm }: XmlSignature): boolean {
  return /#hmac-/.test(algorithm)
}

/** The URI of a method that is not supported; `undefined` when the signature can be verified. SHA-1 is not supported, because it can be forged. */
function unsupportedMethod({ algorithm, canonicalization, references }: XmlSignature): string | undefined {
  if (!ALGORITHM.test(algorithm)) return algorithm
  if (!CANONICALIZATIONS.has(canonicalization)) return canonicalization
  return references.find(({ digestMethod }) => !DIGESTS.has(digestMethod))?.digestMethod
}

/** Whether a content has the digest that a reference states. */
async function hasDigest({ digestMethod, digest }: XmlReference, content: string): Promise<boolean> {
  const octets = await crypto.subtle.digest(DIGESTS.get(digestMethod) ?? '', new TextEncoder().encode(content))
  return digest === btoa(String.fromCharCode(...new Uint8Array(octets)))
}

/** Whether an element has the digest that a reference states, in either canonical form: without transforms, the specification and its users differ. */
async function hasDigestOf(reference: XmlReference, element: XmlElement): Promise<boolean> {
  return (
    (await hasDigest(reference, canonicalElement(element, 'exclusive'))) ||
    (await hasDigest(reference, canonicalElement(element, 'inclusive')))
  )
}

/**
 * Verifies the SignedInfo of a signature with the key of a certificate.
 *
 * @param certificate X.509, in base64 of DER.
 */
async function isSignedBy({ signedInfo, algorithm, canonicalization, value }: XmlSignature, certificate: string): Promise<boolean> {
  const [, kind, bits] = ALGORITHM.exec(algorithm) ?? []
  const method = CANONICALIZATIONS.get(canonicalization)
  if (signedInfo === undefined || method === undefined || kind === undefined || value === undefined) return false
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`
  const key = await importX509(pem, `${kind === 'rsa' ? 'RS' : 'ES'}${bits}`).catch(() => undefined)
  if (key === undefined) return false
  const parameters = kind === 'rsa' ? { name: 'RSASSA-PKCS1-v1_5' } : { name: 'ECDSA', hash: `SHA-${bits}` }
  const signed = new TextEncoder().encode(canonicalElement(signedInfo, method))
  return crypto.subtle.verify(parameters, key, octetsIn(value), signed)
}
