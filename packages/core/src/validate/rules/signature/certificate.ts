import { octetsIn } from './base64.js'

/** A value in DER. */
interface Der {
  readonly tag: number
  readonly content: Uint8Array
  readonly end: number
}

const VERSION = 0xa0

/** Keywords of RFC 2253 for attributes of names, by object identifier in DER. */
const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['85,4,3', 'CN'],
  ['85,4,6', 'C'],
  ['85,4,7', 'L'],
  ['85,4,8', 'ST'],
  ['85,4,9', 'STREET'],
  ['85,4,10', 'O'],
  ['85,4,11', 'OU'],
  ['9,146,38,137,147,242,44,100,1,1', 'UID'],
  ['9,146,38,137,147,242,44,100,1,25', 'DC'],
])

/** The details that a certificate states. */
export interface CertificateDetails {
  /** The last common name of the subject; empty when there is none. */
  readonly subject: string
  /** The whole name of the subject, as RFC 2253 writes it. */
  readonly subjectName: string
  /** The last common name of the issuer; empty when there is none. */
  readonly issuer: string
  /** In hexadecimal digits. */
  readonly serialNumber: string
}

/**
 * The details in an X.509 certificate, given as base64 of DER. None of them is verified.
 *
 * @returns `undefined` when it is not a certificate.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function certificateDetails(certificate: string): CertificateDetails | undefined {
  const parts = signedParts(certificate)
  const [serialNumber, , issuer, , subject, publicKey] = parts[0]?.tag === VERSION ? parts.slice(1) : parts
  if (serialNumber === undefined || issuer === undefined || subject === undefined || publicKey === undefined) return undefined
  return {
    subject: commonName(subject),
    subjectName: wholeName(subject),
    issuer: commonName(issuer),
    serialNumber: hexadecimal(serialNumber.content),
  }
}

function hexadecimal(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('')
}

/** The parts that the issuer has signed: version, serial number, algorithm, issuer, validity, subject, key. */
function signedParts(certificate: string): readonly Der[] {
  const [whole] = valuesIn(octetsIn(certificate))
  const [signed] = whole ? valuesIn(whole.content) : []
  return signed ? valuesIn(signed.content) : []
}

/** The values in a sequence; empty when they are not well-formed. */
function valuesIn(octets: Uint8Array): readonly Der[] {
  const values: Der[] = []
  for (let at = 0; at < octets.length;) {
    const value = valueAt(octets, at)
    if (value === undefined || value.end > octets.length) return []
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
  const end = content + (digits === 0 ? first : octets.subarray(start + 2, content).reduce((sum, octet) => sum * 256 + octet, 0))
  return { tag, content: octets.subarray(content, end), end }
}

/** The last common name in a name, which is a list of sets of pairs of an object identifier and a text. */
function commonName(name: Der): string {
  return (
    valuesIn(name.content)
      .flatMap(attributesIn)
      .findLast(({ keyword }) => keyword === 'CN')?.text ?? ''
  )
}

/** @see https://www.rfc-editor.org/rfc/rfc2253#section-2 */
function wholeName(name: Der): string {
  const sets = valuesIn(name.content).map((set) => attributesIn(set).map(({ keyword, text }) => `${keyword}=${escapedText(text)}`))
  return sets
    .toReversed()
    .map((set) => set.join('+'))
    .join()
}

function escapedText(text: string): string {
  return text.replaceAll(/[,+"\\<>;]|^[# ]| $/g, (character) => `\\${character}`)
}

/** The attributes that have a keyword. */
function attributesIn(set: Der): readonly { readonly keyword: string; readonly text: string }[] {
  return valuesIn(set.content).flatMap((pair) => {
    const [type, value] = valuesIn(pair.content)
    const keyword = KEYWORDS.get(type?.content.join() ?? '')
    return keyword === undefined || value === undefined ? [] : [{ keyword, text: new TextDecoder().decode(value.content) }]
  })
}
