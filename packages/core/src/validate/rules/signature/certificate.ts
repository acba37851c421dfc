import { octetsOf } from './base64-text.js'

/** What is needed of an X.509 certificate. */
export interface Certificate {
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  /** The last common name of the subject; empty when there is none. */
  readonly subject: string
}

/** A value in DER: its tag, and where its content is. */
interface Der {
  readonly tag: number
  readonly start: number
  readonly content: number
  readonly end: number
}

const SEQUENCE = 0x30
const VERSION = 0xa0
/** The object identifier 2.5.4.3 in DER, in hexadecimal digits. */
const COMMON_NAME = '0603550403'

/**
 * Reads a certificate in base64 of DER. Nothing about it is checked.
 *
 * @returns `undefined` when it is not a certificate.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function readCertificate(text: string): Certificate | undefined {
  const octets = octetsIn(text)
  const parts = octets === undefined ? [] : signedParts(octets)
  const [, , , , subject, publicKey] = parts[0]?.tag === VERSION ? parts.slice(1) : parts
  if (octets === undefined || subject === undefined || publicKey?.tag !== SEQUENCE) return undefined
  return { publicKey: octets.slice(publicKey.start, publicKey.end), subject: commonName(octets, subject) }
}

/** The parts of what the issuer has signed: version, serial number, algorithm, issuer, validity, subject, key. */
function signedParts(octets: Uint8Array): readonly Der[] {
  const [certificate] = valuesIn(octets, { content: 0, end: octets.length })
  const [signed] = certificate?.tag === SEQUENCE ? valuesIn(octets, certificate) : []
  return signed?.tag === SEQUENCE ? valuesIn(octets, signed) : []
}

function octetsIn(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return octetsOf(text)
  } catch {
    return undefined
  }
}

/** The values that follow each other; empty when they are not well-formed. */
function valuesIn(octets: Uint8Array, { content, end }: Pick<Der, 'content' | 'end'>): readonly Der[] {
  const values: Der[] = []
  for (let at = content; at < end;) {
    const value = valueAt(octets, at)
    if (value === undefined || value.end > end) return []
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
  const length = digits === 0 ? first : octets.subarray(start + 2, content).reduce((sum, octet) => sum * 256 + octet, 0)
  return { tag, start, content, end: content + length }
}

/** A name is a list of sets of pairs of an object identifier and a text. */
function commonName(octets: Uint8Array, subject: Der): string {
  const pairs = valuesIn(octets, subject).flatMap((set) => valuesIn(octets, set))
  const names = pairs.flatMap((pair) => {
    const [type, value] = valuesIn(octets, pair)
    const isName = type !== undefined && hexOf(octets.subarray(type.start, type.end)) === COMMON_NAME
    return isName && value !== undefined ? [new TextDecoder().decode(octets.subarray(value.content, value.end))] : []
  })
  return names.at(-1) ?? ''
}

function hexOf(octets: Uint8Array): string {
  return [...octets].map((octet) => octet.toString(16).padStart(2, '0')).join('')
}
