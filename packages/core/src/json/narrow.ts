/** A parsed JSON object whose members have not been looked at yet. */
export type JsonObject = { readonly [name: string]: unknown }

/** True for a JSON object, false for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for a text. */
export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** The member's text, `undefined` when it is absent or no string. What JSON objects inherit are functions and no texts. */
export function stringAt(object: JsonObject | undefined, name: string): string | undefined {
  const value = object?.[name]
  return typeof value === 'string' ? value : undefined
}

/** The member when it is an object. */
export function objectAt(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
  return isObject(value) ? value : undefined
}

/** The objects of an array member; other items and other shapes are ignored. A list of nothing else is given as it is, as copies of large ones take long. */
export function objectsAt(object: JsonObject | undefined, name: string): readonly JsonObject[] {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
  if (!Array.isArray(value)) return []
  return value.every(isObject) ? value : value.filter(isObject)
}

/** The first extension of an element with this url. */
export function extensionAt(element: JsonObject | undefined, url: string): JsonObject | undefined {
  return objectsAt(element, 'extension').find((extension) => extension['url'] === url)
}
