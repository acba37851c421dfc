/** What is wrong with an expression, and where. It never leaves the engine that reads the expression. */
export class EclError extends Error {
  override readonly name: string = 'EclError'
  /** Where, in characters from 0. */
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}
