/** A value in DER. */
interface Der {
  readonly tag: number
  readonly content: Uint8Array
  readonly end: number
}

const VERSION = 0xa0
/** The object identifier 2.5.4.3 in DER. */
const COMMON_NAME = '85,4,3'

/**
 * The last common name of the subject of an X.509 certificate in base64 of DER; empty when there is none. Nothing about the certificate is checked.
 *
 * @returns `undefined` when it is not a certificate.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function commonNameIn(certificate: string): string | undefined {
  const parts = signedParts(certificate)
  const [, , , , subject, publicKey] = parts[0]?.tag === VERSION ? parts.slice(1) : parts
  return subject && publicKey && commonName(subject)
}

/** The parts of what the issuer has signed: version, serial number, algorithm, issuer, validity, subject, key. */
function signedParts(certificate: string): readonly Der[] {
  const [whole] = valuesIn(octetsIn(certificate))
  const [signed] = whole ? valuesIn(whole.content) : []
  return signed ? valuesIn(signed.content) : []
}

/** Octets of base64; none when it is not base64. */
function octetsIn(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** The values that follow each other; empty when they are not well-formed. */
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

/** A name is a list of sets of pairs of an object identifier and a text. */
function commonName(subject: Der): string {
  const pairs = valuesIn(subject.content).flatMap((set) => valuesIn(set.content))
  const names = pairs.flatMap((pair) => {
    const [type, value] = valuesIn(pair.content)
    return type?.content.join() === COMMON_NAME && value ? [new TextDecoder().decode(value.content)] : []
  })
  return names.at(-1) ?? ''
}
