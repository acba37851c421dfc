import type { Hl7Separators } from './separators.js'

/**
 * The text that a leaf of a message means: `\F\ \S\ \T\ \R\ \E\` become the separators, `\Xdd..\` the UTF-8 text of those bytes and
 * `\.br\` a line feed. Other escapes, and bytes that are not UTF-8, stay as they are written.
 *
 * @see HL7 v2.9 chapter 2.7 "Use of escape sequences in text fields"
 */
export function decodeEscapes(text: string, separators: Hl7Separators): string {
  const mark = separators.escape
  let start = text.indexOf(mark)
  if (start < 0) return text
  let decoded = ''
  let done = 0
  while (start >= 0) {
    const end = text.indexOf(mark, start + 1)
    if (end < 0) break
    decoded += text.slice(done, start) + (meaningOf(text.slice(start + 1, end), separators) ?? text.slice(start, end + 1))
    done = end + 1
    start = text.indexOf(mark, done)
  }
  return decoded + text.slice(done)
}

/** The opposite of `decodeEscapes`: separators and control characters of `value` become escapes. */
export function encodeEscapes(value: string, separators: Hl7Separators): string {
  let encoded = ''
  let done = 0
  for (let at = 0; at < value.length; at++) {
    const escape = escapeOf(value.charAt(at), separators)
    if (escape === undefined) continue
    encoded += `${value.slice(done, at)}${separators.escape}${escape}${separators.escape}`
    done = at + 1
  }
  return encoded + value.slice(done)
}

function meaningOf(escape: string, separators: Hl7Separators): string | undefined {
  switch (escape) {
    case 'F':
      return separators.field
    case 'S':
      return separators.component
    case 'T':
      return separators.subcomponent
    case 'R':
      return separators.repetition
    case 'E':
      return separators.escape
    case '.br':
      return '\n'
    default:
      return escape.startsWith('X') ? textOfBytes(escape.slice(1)) : undefined
  }
}

function textOfBytes(hex: string): string | undefined {
  if (hex.length === 0 || hex.length % 2 > 0 || !/^[0-9A-Fa-f]+$/.test(hex)) return undefined
  try {
    return decodeURIComponent(hex.replace(/../g, '%$&'))
  } catch {
    return undefined
  }
}

function escapeOf(char: string, separators: Hl7Separators): string | undefined {
  switch (char) {
    case separators.field:
      return 'F'
    case separators.component:
      return 'S'
    case separators.subcomponent:
      return 'T'
    case separators.repetition:
      return 'R'
    case separators.escape:
      return 'E'
    default:
      return char < ' ' ? `X${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : undefined
  }
}
