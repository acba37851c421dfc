import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { objectAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { certificateFor } from './certificate-for.js'
import { findingsOf, issuesOf } from './findings-of.js'

const ctx = createContext({ storage: memoryStorage(), ...r4() })
const KINDS = /^signature/
const CANON = 'http://hl7.org/fhir/canonicalization/json'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const short = generateKeyPairSync('rsa', { modulusLength: 1024 })
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const BUNDLE: JsonObject = {
  type: 'collection',
  resourceType: 'Bundle',
  entry: [{ resource: { resourceType: 'Basic', code: { text: 'ä' } }, fullUrl: 'http://a.org/1' }],
}
const CONTENT =
  '{"entry":[{"fullUrl":"http://a.org/1","resource":{"code":{"text":"ä"},"resourceType":"Basic"}}],"resourceType":"Bundle","type":"collection"}'

const encoded = (text: string): string => Buffer.from(text).toString('base64url')
const header = (members: JsonObject = {}): JsonObject => ({
  alg: 'RS256',
  sigT: '2026-01-01T00:00:00Z',
  canon: CANON,
  x5c: [certificateFor(rsa.publicKey)],
  ...members,
})

interface Making {
  readonly key?: KeyObject
  readonly content?: string
  readonly payload?: string
}

function jws(protectedHeader: JsonObject, { key = rsa.privateKey, content = CONTENT, payload = '' }: Making = {}): string {
  const start = encoded(JSON.stringify(protectedHeader))
  const input = Buffer.from(`${start}.${protectedHeader['b64'] === false ? content : encoded(content)}`)
  return `${start}.${payload}.${sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

function signed(
  data: string,
  { bundle = BUNDLE, sigFormat = 'application/jose' }: { bundle?: JsonObject; sigFormat?: string } = {},
): JsonObject {
  const type = [{ system: 'urn:iso-astm:E1762-95:2013', code: '1.2.840.10065.1.12.1.1' }]
  const who = { display: 'x' }
  return { ...bundle, signature: { type, when: '2026-01-01T00:00:00Z', who, sigFormat, data: Buffer.from(data).toString('base64') } }
}

const stating = (members: JsonObject): JsonObject => {
  const resource = signed(jws(header()))
  return { ...resource, signature: { ...objectAt(resource, 'signature'), ...members } }
}
const twice = ({ signature, ...bundle }: JsonObject): JsonObject => ({ ...bundle, signature: [signature, signature] })

const TOLD = 'information signature Bundle'
const WRONG = 'error signature-wrong Bundle'
const HEADER = 'warning signature-header Bundle'

describe('the signature of a Bundle', () => {
  test.each<readonly [what: string, resource: JsonObject, said: readonly string[]]>([
    ['of the content', signed(jws(header())), [TOLD, TOLD]],
    [
      'with a curve',
      signed(jws(header({ alg: 'ES256', x5c: [certificateFor(curve.publicKey)] }), { key: curve.privateKey })),
      [TOLD, TOLD],
    ],
    ['of the content as it is', signed(jws(header({ b64: false, crit: ['b64'] }))), [TOLD, TOLD]],
    [
      'of a document, which has an id since',
      signed(jws(header({ canon: `${CANON}#document` })), { bundle: { ...BUNDLE, id: 'x' } }),
      [TOLD, TOLD],
    ],
    ['of what has an id since', signed(jws(header()), { bundle: { ...BUNDLE, id: 'x' } }), [TOLD, WRONG]],
    ['by another key', signed(jws(header(), { key: other.privateKey })), [TOLD, WRONG]],
    ['by a key of another kind', signed(jws(header({ alg: 'ES256' }))), [TOLD, WRONG]],
    ['with the payload in it', signed(jws(header(), { payload: encoded(CONTENT) })), ['warning signature-payload Bundle', TOLD, TOLD]],
    [
      'of another payload, which is in it',
      signed(jws(header(), { payload: encoded('{}'), content: '{}' })),
      ['warning signature-payload Bundle', TOLD, TOLD, WRONG],
    ],
    ['without certificate', signed(jws(header({ x5c: undefined }))), [HEADER, TOLD]],
    ['with a broken certificate', signed(jws(header({ x5c: ['AAAA'] }))), ['error signature-header Bundle', TOLD]],
    ['without time', signed(jws(header({ sigT: undefined }))), [HEADER, TOLD, TOLD]],
    ['with seconds as time', signed(jws(header({ sigT: undefined, iat: 1_767_225_600 }))), [TOLD, TOLD]],
    ['with a number as time', signed(jws(header({ sigT: 1_767_225_600 }))), [HEADER, TOLD, TOLD]],
    ['with a text as time that is none', signed(jws(header({ sigT: 'yesterday' }))), [TOLD, WRONG]],
    ['with a certificate that is not in a list', signed(jws(header({ x5c: 'AAAA' }))), ['error signature-header Bundle', TOLD]],
    ['without an algorithm', signed(jws(header({ alg: undefined }))), [TOLD, WRONG]],
    ['with an algorithm that is not verified', signed(jws(header({ alg: 'EdDSA' }))), [TOLD, HEADER]],
    ['that demands what is not known', signed(jws(header({ crit: ['exp'], exp: 1 }))), [WRONG, TOLD]],
    ['that demands what is neither known nor there', signed(jws(header({ crit: ['exp'] }))), [WRONG, TOLD]],
    ['that demands what is not there', signed(jws(header({ crit: ['b64'] }))), [WRONG, TOLD]],
    ['that demands nothing in a list', signed(jws(header({ crit: [] }))), [TOLD, WRONG]],
    ['of the content as it is, which it does not demand', signed(jws(header({ b64: false }))), [WRONG, TOLD]],
    [
      'by a key that is too short',
      signed(jws(header({ x5c: [certificateFor(short.publicKey)] }), { key: short.privateKey })),
      [TOLD, WRONG],
    ],
    ['twice, which is one signature too many', twice(signed(jws(header()))), [TOLD, TOLD]],
    ['with no algorithm', signed(jws(header({ alg: 'none' }))), [TOLD, WRONG]],
    ['with a shared secret', signed(jws(header({ alg: 'HS256' }))), [TOLD, WRONG]],
    ['with an algorithm that objects have as a member', signed(jws(header({ alg: 'constructor' }))), [TOLD, HEADER]],
    ['in another canonical form', signed(jws(header({ canon: `${CANON}#static` }))), [TOLD, HEADER]],
    ['with another time than it states', signed(jws(header({ sigT: '2026-01-02T00:00:00Z' }))), [TOLD, WRONG]],
    ['with the same time in another zone', signed(jws(header({ sigT: '2026-01-01T01:00:00+01:00' }))), [TOLD]],
    [
      'with another canonical form than it states',
      stating({ targetFormat: `application/fhir+json; canonicalization=${CANON}#x` }),
      [HEADER, TOLD],
    ],
    ['with a target of no media type', stating({ targetFormat: 'json' }), [WRONG, TOLD]],
    ['by whom it states', stating({ who: { identifier: { value: 'test' } } }), [TOLD]],
    ['of no stated format', stating({ sigFormat: undefined }), [TOLD]],
    ['without data', stating({ data: undefined }), [TOLD]],
    ['that is not a JWS', signed('x'), ['error signature-data Bundle']],
    [
      'of another payload, which is not JSON',
      signed(jws(header(), { payload: encoded('x'), content: 'x' })),
      ['warning signature-payload Bundle', TOLD, WRONG],
    ],
    ['in XML', signed('<Signature/>', { sigFormat: 'application/signature+xml' }), [TOLD]],
    ['that is cut off', signed(`${jws(header()).replace(/\.[^.]*$/, '')}.A`), ['error signature-data Bundle']],
    ['that is a picture', signed('x', { sigFormat: 'image/png' }), []],
  ])('%s', async (_, resource, said) => {
    expect(new Set(await findingsOf(resource, [], KINDS))).toEqual(new Set(said))
  })

  test.each<readonly [what: string, resource: JsonObject, text: RegExp]>([
    [
      'a critical parameter that is not known',
      signed(jws(header({ crit: ['exp'], exp: 1 }))),
      /^The JWS is invalid: .* not supported: 'exp' \(RFC 7515, section 4\.1\.11\)\.$/,
    ],
    [
      'a key of another kind',
      signed(jws(header({ alg: 'ES256' }))),
      /the key of the certificate cannot be used with the algorithm 'ES256'\.$/,
    ],
    ['another key', signed(jws(header(), { key: other.privateKey })), /did not sign this content\.$/],
  ])('says what is wrong: %s', async (_, resource, text) => {
    const { findings } = await validate(ctx, { resource })
    expect(findings.filter(({ kind }) => kind === 'signature-wrong').map((finding) => finding.text)).toEqual([expect.stringMatching(text)])
  })

  test('keeps the digits of numbers', async () => {
    const text = '{"resourceType":"Bundle","total":1.0,"type":"searchset"}'
    const { signature } = signed(jws(header(), { content: text }))
    const source = `{"type":"searchset","total":1.0,"resourceType":"Bundle","signature":${JSON.stringify(signature)}}`
    expect(new Set(await findingsOf(source, [], KINDS))).toEqual(new Set([TOLD]))
  })
})

/** BUNDLE_SIGNATURE_SIGNED_FOR_VERIFIED, BUNDLE_SIGNATURE_SIGNED_FOR */
test.each<readonly [resource: JsonObject, purpose: string]>([
  [signed(jws(header({ srCms: [{ commId: { id: 'urn:oid:1.2.3', desc: 'Proof' } }] }))), ", purpose 'urn:oid:1.2.3'."],
  [signed(jws(header())), ", purpose '1.2.840.10065.1.12.1.1', which is not signed."],
])('a signature tells what it is for: %#', async (resource, purpose) => {
  const { findings } = await validate(ctx, { resource: JSON.stringify(resource) })
  const stated = findings.filter(({ text }) => text.startsWith('The signature states:'))
  expect(stated.map(({ text }) => text.slice(text.indexOf(', purpose')))).toEqual([purpose])
})

test('the certificate of a signature is described: BUNDLE_SIGNATURE_CERT_DETAILS', async () => {
  const described = async (resource: JsonObject): Promise<readonly string[]> => {
    const { findings } = await validate(ctx, { resource })
    return findings
      .filter(({ text }) => text.startsWith('The certificate states'))
      .map(({ severity, code, text }) => `${severity}|${code} ${text}`)
  }
  expect(await described(signed(jws(header())))).toEqual([
    "information|informational The certificate states: subject 'Jane Doe', issuer 'Test Authority', serial number 01.",
  ])
  expect(await described(signed(jws(header({ x5c: ['AAAA'] }))))).toEqual([])
})

test('a JWS that cannot be read is invalid: BUNDLE_SIGNATURE_HEADER_PARSE', async () => {
  expect(await issuesOf(signed('x'), [], /^signature-data$/)).toEqual(['error|invalid signature-data Bundle'])
})
