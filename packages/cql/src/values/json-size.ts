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
