/** Texts of objects that were compared: a resource is often compared with many, and its text is long. */
const texts = new WeakMap<object, string>()

/** The JSON text of an element, by which it is compared. */
export function jsonText(json: unknown): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json) ?? ''
  const known = texts.get(json)
  if (known !== undefined) return known
  const text = JSON.stringify(json)
  texts.set(json, text)
  return text
}
