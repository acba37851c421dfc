export { OperationError, ERRORS, type ErrorCode, type ErrorDetail } from './operation-error.js'
export { outcomeOf } from './outcome.js'
