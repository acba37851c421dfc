/**
 * The media type as which a JSON body is read: `application/fhir+json` for its name before STU3 (`application/json+fhir`), `application/json` for
 * other JSON types (`text/json`, and those that end in `+json`). Any other type is returned unchanged, and so are patch types, because they state
 * an operation and not only a format.
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
