export { OperationError, ERRORS, type ErrorCode } from './operation-error.js'
export { outcomeOf } from './outcome.js'
