import { OperationError } from '../errors/index.js'

/** Where the segments of a message are in its text, in order. */
export interface Hl7Lines {
  readonly starts: readonly number[]
  /** Index after the last character of each, before its line end. */
  readonly ends: readonly number[]
}

const MAX_LENGTH = 4 * 1024 * 1024
const MAX_SEGMENTS = 100_000

/**
 * Finds the segments; CR, LF and CRLF end one, empty lines are skipped.
 *
 * @throws {OperationError} `too-costly` beyond 4 Mi characters or 100,000 segments.
 */
export function findLines(text: string): Hl7Lines {
  if (text.length > MAX_LENGTH) throw new OperationError('too-costly', `The HL7 message is longer than ${MAX_LENGTH} characters.`)
  const starts: number[] = []
  const ends: number[] = []
  let cr = text.indexOf('\r')
  let lf = text.indexOf('\n')
  for (let start = 0; start < text.length;) {
    const end = Math.min(cr < 0 ? text.length : cr, lf < 0 ? text.length : lf)
    if (end > start) {
      starts.push(start)
      ends.push(end)
    }
    start = end + 1
    if (end === cr) cr = text.indexOf('\r', start)
    if (end === lf) lf = text.indexOf('\n', start)
  }
  if (starts.length > MAX_SEGMENTS) throw new OperationError('too-costly', `The HL7 message has more than ${MAX_SEGMENTS} segments.`)
  return { starts, ends }
}

/** The message inside MLLP framing (VT before, FS and CR after); a text without framing as it is. */
export function withoutFraming(text: string): string {
  const start = text.startsWith('\u000b') ? 1 : 0
  const end = [text.length, text.length - 1].find((at) => text.charAt(at - 1) === '\u001c')
  return text.slice(start, end === undefined ? text.length : end - 1)
}
