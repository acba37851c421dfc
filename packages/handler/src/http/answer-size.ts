import { OperationError } from 'fhir-ops/errors'
import { utf8Length } from 'fhir-ops/internal/text'

/** What may come into one answer. */
export interface AnswerBounds {
  /** UTF-8 bytes. */
  readonly maxBytes: number
  /** What the caller can do about it: a sentence at the end of the error. */
  readonly advice: string
}

/** Adds up the text of an answer while it is collected. */
export interface AnswerSize {
  /** @throws {OperationError} `too-costly` when the answer would be too long with the text and `reserve` more UTF-8 bytes. */
  add(text: string, reserve?: number): void
  /** As `add`, but returns false for a text that would be too long, and does not add it. */
  takes(text: string, reserve?: number): boolean
}

/** UTF-8 bytes of one UTF-16 code unit at most. */
const WIDEST = 3

/**
 * Counts UTF-8 bytes. Most answers are so far below the limit that the number of characters decides; bytes are counted, once each, only where
 * they could exceed it.
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
