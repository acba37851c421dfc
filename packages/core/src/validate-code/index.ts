export { batchValidateCodeOperation } from './batch.js'
export { codeSystemValidateCodeOperation, valueSetValidateCodeOperation } from './operations.js'
export { validateInCodeSystem } from './validate-in-code-system.js'
export { validateInValueSet } from './validate-in-value-set.js'
export type {
  GivenCoding,
  GivenValue,
  ValidateInCodeSystemInput,
  ValidateInValueSetInput,
  ValidateOptions,
} from './validate-input.js'
export type { ValidationIssue } from './validation-issue.js'
export type { Validation } from './validation.js'
export { messageOf, writeValidation } from './write-validation.js'
