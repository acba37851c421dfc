import { OperationError } from 'fhir-ops/errors'
import { utf8Length } from 'fhir-ops/internal/text'

/** Limits on the size of an answer. */
interface AnswerBounds {
  /** UTF-8 bytes. */
  readonly maxBytes: number
  /** A sentence at the end of the error: how the caller can stay below the limit. */
  readonly advice: string
}

/** Measures the text of an answer while it is collected. */
interface AnswerSize {
  /** @throws {OperationError} `too-costly` if the text and `reserve` more UTF-8 bytes would make the answer too long. */
  add(text: string, reserve?: number): void
  /** As `add`, but if the text would be too long, returns false and does not add it. */
  takes(text: string, reserve?: number): boolean
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const WIDEST = 3

/**
 * Counts UTF-8 bytes. Most answers are so far below the limit that the number of characters is sufficient; bytes are counted, once each, only
 * if they could exceed it.
 */
export function createAnswerSize({ maxBytes, advice }: AnswerBounds): AnswerSize {
  let counted = 0
  let uncounted: string[] = []
  let atLeast = 0
  let atMost = 0
  const isWithin = (more: number): boolean => {
    if (atMost + more <= maxBytes) return true
    for (const text of uncounted) counted += utf8Length(text)
    uncounted = []
    atLeast = atMost = counted
    return counted + more <= maxBytes
  }
  const takes = (text: string, reserve = 0): boolean => {
    if (atLeast + text.length + reserve > maxBytes) return false
    uncounted.push(text)
    atLeast += text.length
    atMost += text.length * WIDEST
    if (isWithin(reserve)) return true
    counted -= utf8Length(text)
    atLeast = atMost = counted
    return false
  }
  return {
    takes,
    add(text, reserve) {
      if (!takes(text, reserve)) throw new OperationError('too-costly', `The answer would be longer than ${maxBytes} bytes. ${advice}`)
    },
  }
}
