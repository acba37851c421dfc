import { OperationError } from 'fhir-ops/errors'

/** What packages refuse of their options (TypeError), as wrong use of the command; other errors as they are. */
export function wrongUse(cause: unknown): unknown {
  return cause instanceof TypeError ? new OperationError('parameter-value', cause.message, { cause }) : cause
}
