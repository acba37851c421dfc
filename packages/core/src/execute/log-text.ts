const MAX_LINE = 8_192

/** A line for the log from what a bot gave: texts as they are, other values as JSON, control characters escaped, at most 8,192 characters. */
export function logText(values: readonly unknown[]): string {
  const line = values.map((value) => (typeof value === 'string' ? value : jsonText(value))).join(' ')
  return line.slice(0, MAX_LINE).replace(/[\p{Cc}\u2028\u2029]/gu, (char) => JSON.stringify(char).slice(1, -1)).toWellFormed()
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `[${typeof value}]`
  }
}
