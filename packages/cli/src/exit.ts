import { OperationError } from 'fhir-ops/errors'

/** Ends a command with an exit status, without a message, because everything was already printed. */
export class Exit extends Error {
  override readonly name: string = 'Exit'
  readonly status: number

  constructor(status: number) {
    super(`exit status ${status}`)
    this.status = status
  }
}

/** Converts a TypeError, by which packages refuse options, to a usage error; returns other errors unchanged. */
export function wrongUse(cause: unknown): unknown {
  return cause instanceof TypeError ? new OperationError('parameter-value', cause.message, { cause }) : cause
}

/** Resolves on the first SIGINT or SIGTERM. Later signals are ignored: npm repeats those that the terminal has already sent to all its processes. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
}
