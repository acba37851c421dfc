export {
  createContext,
  forRequest,
  DEFAULT_LIMITS,
  type ContextOptions,
  type OperationContext,
  type Progress,
  type LibraryChecker,
  type LibraryProblem,
  type Limits,
} from './context.js'
export { createCache, type Cache } from './cache.js'
export type { Suppression, ValidationPolicy, HostFinding, HostRule, RuleSettings } from './validation-policy.js'
export type { Explanation, ExplanationStep } from '../explain/explanation.js'
export type { Coverage, ExplainedCriterion } from '../explain/criteria.js'
