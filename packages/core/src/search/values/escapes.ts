/**
 * Splits a search value at a separator that no backslash precedes; the backslashes stay.
 *
 * @see https://hl7.org/fhir/R4/search.html#escaping
 */
export function splitUnescaped(text: string, separator: ',' | '|' | '$'): readonly string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

/** The text that `\,`, `\|`, `\$` and `\\` mean. */
export function unescaped(text: string): string {
  return text.replace(/\\([,|$\\])/g, '$1')
}

/** The text so that `unescaped` gives it back and no bar in it separates. */
export function escaped(text: string): string {
  // Most texts have none of these, and to look takes less time than to replace nothing.
  return /[,|$\\]/.test(text) ? text.replace(/[,|$\\]/g, '\\$&') : text
}
