import type { ComputedSystem } from 'fhir-ops/terminology'

/** @see https://www.iana.org/assignments/top-level-media-types */
const TOP_LEVEL: ReadonlySet<string> = new Set([
  'application',
  'audio',
  'example',
  'font',
  'haptics',
  'image',
  'message',
  'model',
  'multipart',
  'text',
  'video',
])

/** Short names that R4 allows instead of a type: `CapabilityStatement.format` is bound to media types and lists them. */
const SHORT_NAMES: ReadonlySet<string> = new Set(['json', 'ttl', 'xml'])

const MAX_LENGTH = 500

/** @see https://www.rfc-editor.org/rfc/rfc6838#section-4.2 and https://www.rfc-editor.org/rfc/rfc2045#section-5.1 */
const TYPE = /^([A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126})\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$/
/**
 * The values that FHIR and DICOM use without quotes may be URLs or several words: `application/fhir+xml;canonicalization=http://hl7.org/...`,
 * `application/dicom; variant=DICOM WADO-RS`.
 */
const PARAMETERS =
  /^(?: *; *[A-Za-z0-9!#$%&'*+.^_`|~-]+=(?:[A-Za-z0-9!#$%&'*+.^_`|~:/-]+(?: [A-Za-z0-9!#$%&'*+.^_`|~:/-]+)*|"[^"\\]*"))* *$/

/**
 * The code system of media types (`urn:ietf:bcp:13`): a registered top-level type, a subtype and parameters, each in the syntax that the RFCs require. It
 * is not checked whether a subtype is registered, because vendor and private subtypes need not be. Case is ignored. The codes cannot be listed.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6838
 */
export function mediaTypes(): ComputedSystem {
  return {
    url: 'urn:ietf:bcp:13',
    name: 'BCP13',
    caseSensitive: false,
    find: (code) => (wrongIn(code) === undefined ? { code } : undefined),
    whyNot(code) {
      const reason = wrongIn(code)
      return reason === undefined ? undefined : `Not a media type: ${reason}`
    },
  }
}

function wrongIn(code: string): string | undefined {
  if (SHORT_NAMES.has(code)) return undefined
  if (code.length > MAX_LENGTH) return `it has more than ${MAX_LENGTH} characters`
  const end = code.includes(';') ? code.indexOf(';') : code.length
  const top = TYPE.exec(code.slice(0, end).trimEnd())?.[1]
  if (top === undefined) return 'it must be a type and a subtype, as in text/plain'
  if (!TOP_LEVEL.has(top.toLowerCase())) return `${top} is not a registered type`
  return PARAMETERS.test(code.slice(end)) ? undefined : 'its parameters must be name=value, each after a semicolon'
}
