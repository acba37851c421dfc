const BACKSLASH = 0x5c

/** Index of the quote that ends the string whose opening quote is at `start`; the length of a text in which it has no end. */
export function stringEnd(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end < 0 ? json.length : end
}

function isEscaped(json: string, quote: number): boolean {
  let at = quote - 1
  while (json.charCodeAt(at) === BACKSLASH) at--
  return (quote - at) % 2 === 0
}
