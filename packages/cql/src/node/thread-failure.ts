import { ERRORS, OperationError, type ErrorCode } from 'fhir-ops/errors'

/** An error, as it goes from thread to thread. */
export interface Failure {
  /** Of an `OperationError`. */
  readonly code?: string | undefined
  readonly message: string
  readonly expression?: readonly string[] | undefined
}

/** An error as plain data. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OperationError) return { code: error.code, message: error.message, expression: error.expression }
  return { message: error instanceof Error ? error.message : String(error) }
}

/** The error that it was; others than of an operation mean that the thread is broken. @param name Of what failed; left out where the message says it. */
export function errorOf({ code, message, expression }: Failure, name?: string): Error {
  const text = name === undefined ? message : `${name}: ${message}`
  if (!isErrorCode(code)) return new Error(text)
  return new OperationError(code, text, expression === undefined ? {} : { expression })
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code)
}
