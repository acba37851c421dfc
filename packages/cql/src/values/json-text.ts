/** Texts of compared objects: a resource is often compared with many others, and its text is long. */
const texts = new WeakMap<object, string>()

/** The JSON text of an element, for comparisons. */
export function jsonText(json: unknown): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json) ?? ''
  const known = texts.get(json)
  if (known !== undefined) return known
  const text = JSON.stringify(json)
  texts.set(json, text)
  return text
}
