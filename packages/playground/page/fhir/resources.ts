import { isObject, objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'

/**
 * The resources of a text: one resource, those of a Bundle, or those of a list. Empty for an empty text.
 *
 * @throws {SyntaxError} for what is no JSON; {TypeError} for JSON that is no resource.
 */
export function resourcesIn(text: string): readonly (JsonObject & { readonly resourceType: string })[] {
  if (text.trim() === '') return []
  const value: unknown = JSON.parse(text)
  return partsOf(value).map((part, index) => {
    if (isResource(part)) return part
    throw new TypeError(`Part ${index + 1} has no resourceType.`)
  })
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isObject(value) || value['resourceType'] !== 'Bundle') return [value]
  return objectsAt(value, 'entry').map((entry) => objectAt(entry, 'resource'))
}

function isResource(value: unknown): value is JsonObject & { readonly resourceType: string } {
  return isObject(value) && typeof value['resourceType'] === 'string'
}
