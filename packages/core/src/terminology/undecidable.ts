import { OperationError, type ErrorCode } from '../errors/index.js'

/** Failures that lie in the definitions: with them nobody can say which codes a value set has. */
const UNDECIDABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'content-not-found',
  'definition-invalid',
  'not-supported',
  'regex-unsupported',
  'too-costly',
  'unprocessable',
])

/** Whether the codes of a value set cannot be known, for a reason that its definitions have. */
export function isUndecidable(error: unknown): error is OperationError {
  return error instanceof OperationError && UNDECIDABLE.has(error.code)
}
