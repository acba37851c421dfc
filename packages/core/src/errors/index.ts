export { checkGiven, checkHas } from './check-given.js'
export { ERRORS, isAboutContent, OperationError, quoted, type ErrorCode, type ErrorDetail } from './operation-error.js'
export { outcomeOf, outcomeOk, writeIssue } from './outcome.js'
export type { IssueSeverity, OutcomeIssue } from './outcome-issue.js'
