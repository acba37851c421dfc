import { ERRORS, OperationError, type ErrorCode } from 'fhir-ops/errors'

/** An error as plain data, to be sent between threads. */
export interface Failure {
  /** Code of an `OperationError`; absent for other errors. */
  readonly code?: string | undefined
  readonly message: string
  readonly expression?: readonly string[] | undefined
}

/** Converts an error to plain data. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OperationError) return { code: error.code, message: error.message, expression: error.expression }
  return { message: error instanceof Error ? error.message : String(error) }
}

/** Converts a failure back to an error; one that is not an `OperationError` means that the thread is broken. @param name Prefix of the message. */
export function errorOf({ code, message, expression }: Failure, name?: string): Error {
  const text = name === undefined ? message : `${name}: ${message}`
  if (!isErrorCode(code)) return new Error(text)
  return new OperationError(code, text, expression === undefined ? {} : { expression })
}

function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(ERRORS, code)
}
