import { OperationError } from 'fhir-ops/errors'

/** Ends a command with an exit status and without a message: everything was said. */
export class Exit extends Error {
  override readonly name: string = 'Exit'
  readonly status: number

  constructor(status: number) {
    super(`exit status ${status}`)
    this.status = status
  }
}

/** What packages refuse of their options (TypeError), as wrong use of the command; other errors as they are. */
export function wrongUse(cause: unknown): unknown {
  return cause instanceof TypeError ? new OperationError('parameter-value', cause.message, { cause }) : cause
}

/** Resolves at the first SIGINT or SIGTERM. Others change nothing: npm passes on what the terminal has sent to all of its processes. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
}
