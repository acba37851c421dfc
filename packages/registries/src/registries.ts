import type { ComputedSystem } from 'fhir-ops/terminology'
import { languageTags } from './language-tags/language-tags.js'
import { mediaTypes } from './media-types/media-types.js'

/**
 * The code systems of registries whose codes follow rules, for `codeSystems` of a context: language tags, media types and URIs. Registries that can be
 * listed are in `registryDefinitions`, units in `unitsOfMeasure` of `@fhir-ops/registries/ucum`. Reads a file of the package; without a file system, use
 * `[languageTags({ bytes }), mediaTypes(), uris()]` instead.
 *
 * @throws {TypeError} in a runtime without a file system.
 */
export function registries(): readonly ComputedSystem[] {
  return [languageTags(), mediaTypes(), uris()]
}

/**
 * The code system of URIs (`urn:ietf:rfc:3986`): a scheme, and after it only what URIs may contain. The codes have no displays and cannot be listed.
 *
 * @see https://hl7.org/fhir/R4/terminologies-systems.html and https://www.rfc-editor.org/rfc/rfc3986
 */
export function uris(): ComputedSystem {
  return {
    url: 'urn:ietf:rfc:3986',
    name: 'URI',
    caseSensitive: true,
    find: (code) => (wrongIn(code) === undefined ? { code } : undefined),
    whyNot(code) {
      const reason = wrongIn(code)
      return reason === undefined ? undefined : `Not a URI: ${reason}`
    },
  }
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
/** What a URI may have beside `%`: unreserved and reserved characters. */
const OTHER = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/u

function wrongIn(code: string): string | undefined {
  const scheme = SCHEME.exec(code)?.[0]
  if (scheme === undefined) return 'it must begin with a scheme, as in urn:'
  if (scheme === code) return 'nothing follows the scheme'
  if (!code.isWellFormed()) return 'half of a character is not text'
  const other = OTHER.exec(code)?.[0]
  if (other !== undefined) return `'${other}' must be written as ${encodeURIComponent(other)}`
  return /%(?![0-9A-Fa-f]{2})/.test(code) ? '% must be followed by two hexadecimal digits' : undefined
}
