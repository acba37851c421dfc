import { OperationError, quoted } from '../errors/index.js'

/** A cursor over the code points of a pattern. */
export interface PatternReader {
  /** The character at an offset from the cursor; '' beyond the end. */
  peek(offset?: number): string
  next(): string
  /** Consumes `text` if it comes next, and returns whether it did. */
  take(text: string): boolean
  /** Consumes and returns the text up to `end`, and consumes `end`; `undefined`, without moving, if there is no `end`. */
  until(end: string): string | undefined
  /** Consumes a run of decimal digits; '' if there is none. */
  digits(): string
  /** The current position, for `reset`. */
  mark(): number
  reset(mark: number): void
  /** Creates the error for a pattern that cannot be used. */
  refuse(reason: string): OperationError
}

/** Creates a reader at the beginning of a pattern. */
export function patternReader(pattern: string): PatternReader {
  const points: readonly string[] = Array.from(pattern)
  let at = 0
  const peek = (offset = 0): string => points[at + offset] ?? ''
  const next = (): string => points[at++] ?? ''
  return {
    peek,
    next,
    take(text) {
      for (let i = 0; i < text.length; i++) if (peek(i) !== text[i]) return false
      at += text.length
      return true
    },
    until(end) {
      const stop = points.indexOf(end, at)
      if (stop < 0) return undefined
      const text = points.slice(at, stop).join('')
      at = stop + 1
      return text
    },
    digits() {
      let text = ''
      while (peek() >= '0' && peek() <= '9') text += next()
      return text
    },
    mark: () => at,
    reset(mark) {
      at = mark
    },
    refuse: (reason) => new OperationError('regex-unsupported', `The regular expression ${quoted(pattern)} cannot be used: ${reason}.`),
  }
}
