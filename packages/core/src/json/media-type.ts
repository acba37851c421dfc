/**
 * The media type that a body of JSON is read as: `application/fhir+json` for the name that it had before STU3 (`application/json+fhir`),
 * `application/json` for the other JSON types of the web (`text/json`, and all that end in `+json`). Any other type comes back as it is, and so do
 * those of patches, which say what is to be done and not only how it is written.
 *
 * @param mediaType In lower case, without parameters.
 * @see https://mimesniff.spec.whatwg.org/#json-mime-type
 * @see https://hl7.org/fhir/R4/http.html#mime-type
 */
export function readableJsonType(mediaType: string): string {
  if (mediaType === 'application/json+fhir') return 'application/fhir+json'
  if (mediaType === 'application/fhir+json' || mediaType.endsWith('patch+json')) return mediaType
  return mediaType === 'text/json' || /^[a-z0-9.-]+\/[a-z0-9.-]+\+json$/.test(mediaType) ? 'application/json' : mediaType
}
