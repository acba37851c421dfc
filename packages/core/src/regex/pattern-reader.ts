import { OperationError, quoted } from '../errors/index.js'

/** A cursor over the code points of a pattern. */
export class PatternReader {
  readonly #points: readonly string[]
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
    this.#points = Array.from(pattern)
  }

  /** The next character, '' at the end. */
  peek(offset = 0): string {
    return this.#points[this.#at + offset] ?? ''
  }

  next(): string {
    const point = this.peek()
    this.#at += 1
    return point
  }

  /** Takes `text` when it comes next. */
  take(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.peek(i) !== text[i]) return false
    this.#at += text.length
    return true
  }

  /** Everything up to `end`, which is taken as well; `undefined` without moving when there is none. */
  until(end: string): string | undefined {
    const stop = this.#points.indexOf(end, this.#at)
    if (stop < 0) return undefined
    const text = this.#points.slice(this.#at, stop).join('')
    this.#at = stop + 1
    return text
  }

  /** Reads a run of decimal digits, '' when there is none. */
  digits(): string {
    let text = ''
    while (this.peek() >= '0' && this.peek() <= '9') text += this.next()
    return text
  }

  /** The position to come back to with `reset`. */
  mark(): number {
    return this.#at
  }

  reset(mark: number): void {
    this.#at = mark
  }

  /** The error for a pattern that cannot be used. */
  refuse(reason: string): OperationError {
    return new OperationError('regex-unsupported', `The regular expression ${quoted(this.#pattern)} cannot be used: ${reason}.`)
  }
}
