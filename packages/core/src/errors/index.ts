export { ERRORS, OperationError, quoted, type ErrorCode, type ErrorDetail, type IssueSeverity } from './operation-error.js'
export { outcomeOf, outcomeOk, writeIssue, type OutcomeIssue } from './outcome.js'
