const MAX_LINE = 8_192

/** A line for the log from what a bot gave: texts as they are, other values as JSON, control characters escaped, at most 8,192 characters. */
export function logText(values: readonly unknown[]): string {
  const line = values.map((value) => (typeof value === 'string' ? value : jsonText(value))).join(' ')
  return line
    .slice(0, MAX_LINE)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]/gu, escaped)
    .slice(0, MAX_LINE)
}

/** JSON leaves the controls beyond U+001F as they are. */
function escaped(char: string): string {
  return char < ' ' ? JSON.stringify(char).slice(1, -1) : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `[${typeof value}]`
  }
}
