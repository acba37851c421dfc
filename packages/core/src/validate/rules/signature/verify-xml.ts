import { importX509 } from 'jose/key/import'
import { octetsIn } from './base64.js'
import { attributeOf, elementAlong, elementsIn, xmlText, type XmlElement } from './read-xml.js'
import { canonicalElement, type CanonicalXmlMethod } from './write-xml.js'

/** A reference in an XML signature: the digest of something that is signed. */
export interface XmlReference {
  readonly uri: string
  readonly type: string | undefined
  readonly digestMethod: string
  readonly digest: string
}

/** An XML signature, as far as its parts are present. */
export interface XmlSignature {
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
export function readSignature(root: XmlElement): XmlSignature {
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
export function withoutSpace(text: string): string {
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
export function provesNothing({ algorithm }: XmlSignature): boolean {
  return /#hmac-/.test(algorithm)
}

/** The URI of a method that is not supported; `undefined` when the signature can be verified. SHA-1 is not supported, because it can be forged. */
export function unsupportedMethod({ algorithm, canonicalization, references }: XmlSignature): string | undefined {
  if (!ALGORITHM.test(algorithm)) return algorithm
  if (!CANONICALIZATIONS.has(canonicalization)) return canonicalization
  return references.find(({ digestMethod }) => !DIGESTS.has(digestMethod))?.digestMethod
}

/** Whether a content has the digest that a reference states. */
export async function hasDigest({ digestMethod, digest }: XmlReference, content: string): Promise<boolean> {
  const octets = await crypto.subtle.digest(DIGESTS.get(digestMethod) ?? '', new TextEncoder().encode(content))
  return digest === btoa(String.fromCharCode(...new Uint8Array(octets)))
}

/** Whether an element has the digest that a reference states, in either canonical form: without transforms, the specification and its users differ. */
export async function hasDigestOf(reference: XmlReference, element: XmlElement): Promise<boolean> {
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
export async function isSignedBy({ signedInfo, algorithm, canonicalization, value }: XmlSignature, certificate: string): Promise<boolean> {
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
