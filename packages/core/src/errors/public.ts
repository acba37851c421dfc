export { ERRORS, type ErrorCode, OperationError, outcomeOf } from './operation-error.js'
