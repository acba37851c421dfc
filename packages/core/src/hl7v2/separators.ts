import { OperationError } from '../errors/index.js'

/** The characters that divide a message, as its MSH segment declares them; each is one UTF-16 code unit. */
export interface Hl7Separators {
  readonly field: string
  readonly component: string
  readonly repetition: string
  readonly escape: string
  readonly subcomponent: string
}

const FIRST = 'MSH'.length
const DECLARED = 5
/** HL7 2.7 allows one more character in MSH-2, the truncation mark. It divides nothing. */
const WITH_TRUNCATION = 6

/**
 * Reads the separators that follow the letters `MSH`.
 *
 * @throws {OperationError} `body-invalid` when the text has no MSH segment or its separators are not five distinct marks.
 * @see HL7 v2.9 chapter 2.5.4 "Message delimiters"
 */
export function readSeparators(text: string): Hl7Separators {
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

/** MSH-1 and MSH-2; empty when MSH-2 has an invalid length. */
function declaration(text: string): string {
  const field = text.charAt(FIRST)
  const rest = text.slice(FIRST + 1, FIRST + WITH_TRUNCATION + 1)
  const end = rest.split(field, 1)[0]?.split(/[\r\n]/, 1)[0]?.length ?? 0
  return end === DECLARED - 1 || end === WITH_TRUNCATION - 1 ? text.slice(FIRST, FIRST + 1 + end) : ''
}

function isMark(mark: string): boolean {
  return mark.length === 1 && /^[^\p{L}\p{N}\p{C}\p{Z}]$/u.test(mark)
}
