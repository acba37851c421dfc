import { OperationError } from 'fhir-ops/errors'

/** An error of an entry as that of its Bundle: it names the entry. Other failures stay what they are. */
export function entryError<T>(index: number, error: T): T | OperationError {
  if (!(error instanceof OperationError)) return error
  const detail = { ...error.detail, cause: error, expression: [`Bundle.entry[${index}]`] }
  return new OperationError(error.code, `Bundle.entry[${index}]: ${error.message}`, detail)
}
