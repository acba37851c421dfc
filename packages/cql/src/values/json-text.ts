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

const WORD = 8
const HEADER = 24

/** Estimates the memory of a JSON value in bytes. */
export function bytesOfJson(json: unknown): number {
  let bytes = 0
  const open: unknown[] = [json]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    bytes += WORD
    if (typeof value === 'string') bytes += HEADER + value.length
    if (typeof value !== 'object' || value === null) continue
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
    bytes += HEADER
    for (const item of items) if (item !== undefined) open.push(item)
  }
  return bytes
}
