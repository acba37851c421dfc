export {
  checkGiven,
  checkHas,
  checkResult,
  checkText,
  ERRORS,
  escapeControls,
  isAboutContent,
  OperationError,
  quoted,
  type ErrorCode,
  type ErrorDetail,
  type IssueSeverity,
  type OutcomeIssue,
} from './operation-error.js'
export { outcomeOf, outcomeOk, writeIssue } from './outcome.js'
