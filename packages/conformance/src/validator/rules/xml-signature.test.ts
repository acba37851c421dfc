import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { certificateFor } from './certificate-for.js'
import { findingsOf, issuesOf } from './findings-of.js'

const KINDS = /^signature/
const CANON = 'http://hl7.org/fhir/canonicalization/xml'
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const PROPERTIES = 'http://uri.etsi.org/01903#SignedProperties'
const WHEN = '2026-01-01T00:00:00Z'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const BUNDLE: JsonObject = {
  resourceType: 'Bundle',
  id: 'x',
  type: 'collection',
  entry: [{ fullUrl: 'http://a.org/1', resource: { resourceType: 'Basic', code: { text: 'ä & "b"' } } }],
}
const ENTRY =
  '<type value="collection"></type><entry><fullUrl value="http://a.org/1"></fullUrl><resource><Basic><code>' +
  '<text value="ä &amp; &quot;b&quot;"></text></code></Basic></resource></entry></Bundle>'
const CONTENT = `<Bundle xmlns="http://hl7.org/fhir"><id value="x"></id>${ENTRY}`

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')

interface Signing {
  readonly content?: string
  readonly key?: KeyObject
  readonly certificate?: string
  readonly algorithm?: string
  readonly c14n?: string
  readonly time?: string
  readonly uri?: string
  readonly type?: string
  readonly references?: 0 | 1 | 2 | 3
  readonly transform?: string
}

/** In canonical form: what stands between the parts is signed too. */
function signatureOf(signing: Signing = {}): string {
  const { content = CONTENT, key = rsa.privateKey, certificate = certificateFor(rsa.publicKey), algorithm = `${MORE}rsa-sha256` } = signing
  const { c14n = C14N, time = WHEN, uri = '#', type = PROPERTIES, references = 2, transform = CANON } = signing
  const space = 'xmlns:x="http://uri.etsi.org/01903/v1.3.2#"'
  const properties = (declared: string): string =>
    `<x:SignedProperties${declared} Id="SignedProperties"><x:SignedSignatureProperties><x:SigningTime>${time}</x:SigningTime>` +
    '</x:SignedSignatureProperties></x:SignedProperties>'
  const reference = (attributes: string, digest: string, transforms = ''): string =>
    `<Reference${attributes}>${transforms}<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>` +
    `<DigestValue>${digest}</DigestValue></Reference>`
  const transforms = transform === '' ? '' : `<Transforms><Transform Algorithm="${transform}"></Transform></Transforms>`
  const ofContent = reference(` URI="${uri}"`, digestOf(content), transforms)
  const ofProperties = reference(` Type="${type}" URI="#SignedProperties"`, digestOf(properties(` ${space}`)))
  const all = [ofContent, ofProperties, ofProperties].slice(0, references).join('\n')
  const signedInfo =
    `<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><CanonicalizationMethod Algorithm="${c14n}"></CanonicalizationMethod>` +
    `<SignatureMethod Algorithm="${algorithm}"></SignatureMethod>${all}</SignedInfo>`
  const value = sign('sha256', Buffer.from(signedInfo), { key, dsaEncoding: 'ieee-p1363' }).toString('base64')
  const withProperties = `<x:QualifyingProperties ${space}>${properties('')}</x:QualifyingProperties>`
  return (
    `<?xml version="1.0"?>\n<Signature xmlns="http://www.w3.org/2000/09/xmldsig#">${signedInfo.replace(' xmlns="http://www.w3.org/2000/09/xmldsig#"', '')}` +
    `<SignatureValue>\n${value}\n</SignatureValue><KeyInfo><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo>` +
    `<Object>${withProperties}</Object></Signature>`
  )
}

function signed(data: string, bundle = BUNDLE, members: JsonObject = {}): JsonObject {
  const type = [{ system: 'urn:iso-astm:E1762-95:2013', code: '1.2.840.10065.1.12.1.1' }]
  const signature = { type, when: WHEN, who: { display: 'x' }, sigFormat: 'application/pkcs7-signature', ...members }
  return { ...bundle, signature: { ...signature, data: Buffer.from(data).toString('base64') } }
}

const TOLD = 'information signature Bundle'
const WRONG = 'error signature-wrong Bundle'
const HEADER = 'warning signature-header Bundle'
const withoutId = `<Bundle xmlns="http://hl7.org/fhir">${ENTRY}`

describe('the signature of a Bundle in XML', () => {
  test.each<readonly [what: string, resource: JsonObject, said: readonly string[]]>([
    ['of the content', signed(signatureOf()), [TOLD]],
    ['of what has another id since', signed(signatureOf(), { ...BUNDLE, id: 'y' }), [TOLD, WRONG]],
    ['of what was changed', signed(signatureOf(), { ...BUNDLE, type: 'batch' }), [TOLD, WRONG]],
    [
      'of a document, which has another id since',
      signed(signatureOf({ content: withoutId, transform: `${CANON}#document` }), { ...BUNDLE, id: 'y' }),
      [TOLD],
    ],
    ['that names no canonical form', signed(signatureOf({ transform: '' })), [TOLD]],
    [
      'with another canonical form than it states',
      signed(signatureOf(), BUNDLE, { targetFormat: `application/fhir+xml;canonicalization=${CANON}#document` }),
      [TOLD, HEADER],
    ],
    ['in a canonical form that is not known', signed(signatureOf({ transform: `${CANON}#static` })), [TOLD, HEADER]],
    ['by another key', signed(signatureOf({ key: other.privateKey })), [TOLD, WRONG]],
    [
      'with a curve',
      signed(signatureOf({ algorithm: `${MORE}ecdsa-sha256`, key: curve.privateKey, certificate: certificateFor(curve.publicKey) })),
      [TOLD],
    ],
    ['with the certificate of a key of another kind', signed(signatureOf({ certificate: certificateFor(curve.publicKey) })), [TOLD, WRONG]],
    ['in the exclusive canonical form', signed(signatureOf({ c14n: EXCLUSIVE })), [TOLD]],
    ['in a canonical form of XML that is not known', signed(signatureOf({ c14n: 'http://a.org/x' })), [TOLD, HEADER]],
    [
      'with an algorithm that is not verified',
      signed(signatureOf({ algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' })),
      [TOLD, HEADER],
    ],
    ['with a shared secret', signed(signatureOf({ algorithm: `${MORE}hmac-sha256` })), [TOLD, WRONG]],
    ['of another time than it states', signed(signatureOf({ time: '2026-01-02T00:00:00Z' })), [TOLD, WRONG]],
    ['of the same time in another zone', signed(signatureOf({ time: '2026-01-01T01:00:00+01:00' })), [TOLD]],
    ['without properties', signed(signatureOf({ references: 1 })), [TOLD]],
    ['of nothing', signed(signatureOf({ references: 0 })), [TOLD, WRONG]],
    ['of too much', signed(signatureOf({ references: 3 })), [TOLD, WRONG]],
    ['of something else', signed(signatureOf({ uri: '#x' })), [TOLD, WRONG]],
    ['of something else besides', signed(signatureOf({ type: 'http://a.org/x' })), [TOLD, WRONG]],
    ['whose properties were changed', signed(signatureOf().replace('SigningTime>2026', 'SigningTime>2025')), [TOLD, WRONG]],
    ['whose value was changed', signed(signatureOf().replace('<SignatureValue>\n', '<SignatureValue>\nAAAA')), [TOLD, WRONG]],
    ['without value', signed(signatureOf().replace(/<SignatureValue>[^]*<\/SignatureValue>/, '')), [TOLD, WRONG]],
    ['with comments', signed(signatureOf().replace('<KeyInfo>', '<!-- of Jane Doe --><KeyInfo>')), [TOLD]],
    ['without certificate', signed(signatureOf().replace(/<KeyInfo>.*<\/KeyInfo>/, '')), [HEADER, TOLD]],
    ['with a broken certificate', signed(signatureOf({ certificate: 'AAAA' })), ['error signature-header Bundle', TOLD]],
    ['without time', signed(signatureOf().replace(/<Object>.*<\/Object>/, '')), [HEADER, TOLD, WRONG]],
    ['that is not XML', signed('x'), ['error signature-data Bundle']],
    ['with a document type', signed(`<!DOCTYPE Signature>${signatureOf().slice(21)}`), ['error signature-data Bundle']],
    ['nested too deeply', signed('<x>'.repeat(102) + '</x>'.repeat(102)), ['error signature-data Bundle']],
    [
      'with too many namespaces',
      signed(signatureOf().replace('<KeyInfo>', `<KeyInfo${Array.from({ length: 60 }, (_, n) => ` xmlns:n${n}="u"`).join('')}>`)),
      ['error signature-data Bundle'],
    ],
    ['that is other XML', signed('<x/>'), [HEADER, TOLD, WRONG]],
    ['of a format that is not verified', signed(signatureOf(), BUNDLE, { sigFormat: 'application/signature+xml' }), [TOLD]],
    ['said to be a JWS', signed(signatureOf(), BUNDLE, { sigFormat: 'application/jose' }), ['error signature-data Bundle']],
  ])('%s', async (_, resource, said) => {
    expect(new Set(await findingsOf(resource, [], KINDS))).toEqual(new Set(said))
  })

  test('is over the elements in order, with ids and urls as attributes, and the narrative in canonical form', async () => {
    const url = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason'
    const bundle = {
      entry: [
        {
          resource: {
            _created: { extension: [{ valueCode: 'unknown', url }] },
            code: { text: 'x' },
            text: {
              div: "<div xmlns='http://www.w3.org/1999/xhtml'><p title='t' class=\"c\">1 &gt; 0<br/></p></div>",
              status: 'generated',
            },
            id: 'b',
            resourceType: 'Basic',
          },
          id: 'e',
        },
      ],
      total: 1,
      type: 'searchset',
      resourceType: 'Bundle',
    }
    const content =
      '<Bundle xmlns="http://hl7.org/fhir"><type value="searchset"></type><total value="1"></total><entry id="e"><resource><Basic><id value="b"></id>' +
      '<text><status value="generated"></status><div xmlns="http://www.w3.org/1999/xhtml"><p class="c" title="t">1 &gt; 0<br></br></p></div></text>' +
      `<code><text value="x"></text></code><created><extension url="${url}"><valueCode value="unknown"></valueCode></extension></created>` +
      '</Basic></resource></entry></Bundle>'
    expect(new Set(await findingsOf(signed(signatureOf({ content }), bundle), [], KINDS))).toEqual(new Set([TOLD]))
  })
})

test('what is wrong about a signature in XML is told by type: BUNDLE_SIGNATURE_DIGSIG_INVALID, BUNDLE_SIGNATURE_DIGSIG_NO_REFERENCES', async () => {
  expect(await issuesOf(signed('x'), [], KINDS)).toEqual(['error|invalid signature-data Bundle'])
  expect(await issuesOf(signed(signatureOf({ references: 0 })), [], /wrong/)).toEqual(['error|not-supported signature-wrong Bundle'])
  expect(await issuesOf(signed(signatureOf(), { ...BUNDLE, id: 'y' }), [], /wrong/)).toEqual(['error|value signature-wrong Bundle'])
})
