import { OperationError } from '../errors/index.js'

/** The separators of a message, as its MSH segment declares them; each is one UTF-16 code unit. */
export interface Hl7Separators {
  readonly field: string
  readonly component: string
  readonly repetition: string
  readonly escape: string
  readonly subcomponent: string
}

const FIRST = 'MSH'.length
const DECLARED = 5
/** HL7 2.7 allows one more character in MSH-2, the truncation mark, which separates nothing. */
const WITH_TRUNCATION = 6

/** The beginning of nearly every message, with the usual separators. */
const COMMON = 'MSH|^~\\&|'
const COMMON_SEPARATORS: Hl7Separators = { field: '|', component: '^', repetition: '~', escape: '\\', subcomponent: '&' }

/**
 * Reads the separators that follow the letters `MSH`.
 *
 * @throws {OperationError} `body-invalid` when the text has no MSH segment or its separators are not five distinct marks.
 * @see HL7 v2.9 chapter 2.5.4 "Message delimiters"
 */
export function readSeparators(text: string): Hl7Separators {
  if (text.startsWith(COMMON)) return COMMON_SEPARATORS
  if (!text.startsWith('MSH')) throw new OperationError('body-invalid', 'The HL7 message does not begin with an MSH segment.')
  const marks = declaration(text).split('')
  const [field, component, repetition, escape, subcomponent] = marks
  if (
    field === undefined ||
    component === undefined ||
    repetition === undefined ||
    escape === undefined ||
    subcomponent === undefined ||
    new Set(marks).size < marks.length ||
    !marks.every(isMark)
  ) {
    throw new OperationError(
      'body-invalid',
      'The MSH segment does not declare five distinct separators that are neither letters nor digits.',
    )
  }
  return { field, component, repetition, escape, subcomponent }
}

/** Returns MSH-1 and MSH-2; empty when MSH-2 has an invalid length. */
function declaration(text: string): string {
  const field = text.charAt(FIRST)
  const rest = text.slice(FIRST + 1, FIRST + WITH_TRUNCATION + 1)
  const end = rest.split(field, 1)[0]?.split(/[\r\n]/, 1)[0]?.length ?? 0
  return end === DECLARED - 1 || end === WITH_TRUNCATION - 1 ? text.slice(FIRST, FIRST + 1 + end) : ''
}

function isMark(mark: string): boolean {
  return mark.length === 1 && /^[^\p{L}\p{N}\p{C}\p{Z}]$/u.test(mark)
}

/**
 * Decodes the escapes of a leaf: `\F\ \S\ \T\ \R\ \E\` become the separators, `\Xdd..\` the UTF-8 text of those bytes and
 * `\.br\` a line feed. Other escapes, and bytes that are not UTF-8, stay as written.
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
