export { validate, type ValidateInput, type ValidateResult } from './validate.js'
export type { Finding } from './finding.js'
export type { FindingKind } from './finding-kinds.js'
export { validateOperation } from './operation.js'
