import type { Assertion } from './ast.js'
import { isWordChar } from './char-class.js'

/** What is on one side of a position in the text. */
export type Side = typeof EDGE | typeof WORD | typeof OTHER

/** Nothing: the beginning or the end of the text. */
export const EDGE = 0
/** A character of `[A-Za-z0-9_]`. */
const WORD = 1
/** Any other character. */
export const OTHER = 2

/** The side that a character is; a negative code point is the edge of the text. */
export function sideOf(codePoint: number): Side {
  if (codePoint < 0) return EDGE
  return isWordChar(codePoint) ? WORD : OTHER
}

/** Whether an assertion holds between two sides. */
export function holds(assertion: Assertion, before: Side, after: Side): boolean {
  if (assertion === 'start') return before === EDGE
  if (assertion === 'end') return after === EDGE
  return ((before === WORD) !== (after === WORD)) === (assertion === 'boundary')
}
