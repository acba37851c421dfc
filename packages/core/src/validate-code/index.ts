export { validateCode } from './validate-code.js'
export { validateCodeInSystem } from './validate-code-in-system.js'
export { messageOf, toParameters, type ValidateCodeResult } from './result.js'
export type {
  CodeWithoutSystem,
  NamedSystem,
  ValidateCodeInput,
  ValidateCodeInSystemInput,
  ValidateCodeOptions,
  ValueSetOptions,
} from './input.js'
export type { ValidationIssue } from './issue.js'
