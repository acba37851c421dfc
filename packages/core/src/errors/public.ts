export { OperationError, ERRORS, type ErrorCode, outcomeOf } from './operation-error.js'
