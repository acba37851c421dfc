import { isObject, objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'

/**
 * The resources of a text: one resource, those of a Bundle, or those of a list. Empty for an empty text.
 *
 * @throws {SyntaxError} for what is no JSON; {TypeError} for XML, and for JSON that is not a resource.
 */
export function resourcesIn(text: string): readonly (JsonObject & { readonly resourceType: string })[] {
  if (text.trim() === '') return []
  const parts = partsOf(jsonOf(text))
  return parts.map((part, index) => {
    if (isResource(part)) return part
    throw new TypeError(
      `${parts.length === 1 ? 'The text' : `Part ${index + 1}`} has no resourceType: FHIR resources in JSON are expected.`,
    )
  })
}

/** The value of a text. @throws {TypeError} for an empty text and for XML; {SyntaxError} for what else is no JSON. */
export function jsonOf(text: string): unknown {
  if (text.trim() === '') throw new TypeError('The text is empty: FHIR resources in JSON are expected.')
  checkNoXml(text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SyntaxError(`The text is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause })
  }
}

/** @throws {TypeError} for a text that is XML or HTML. */
export function checkNoXml(text: string): void {
  if (/^\s*</.test(text)) throw new TypeError('This is XML or HTML: FHIR resources in JSON are expected.')
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || value['resourceType'] !== 'Bundle') return [value]
  return objectsAt(value, 'entry').map((entry) => objectAt(entry, 'resource'))
}

function isResource(value: unknown): value is JsonObject & { readonly resourceType: string } {
  return isObject(value) && typeof value['resourceType'] === 'string'
}
