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
export type { Scheduler } from './scheduler.js'
export type { Explain, Explanation, ExplanationStep, NearestCode } from '../explain/explanation.js'
export type { Coverage, ExplainedCriterion, NearMiss } from '../explain/criteria.js'
