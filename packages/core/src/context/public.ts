export { createContext, forRequest, type ContextOptions, type OperationContext, type RequestOptions } from './context.js'
export { createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export type { Explained, ExplainOption } from './explained.js'
export { DEFAULT_LIMITS, type Limits } from './limits.js'
export type {
  BestPractice,
  FindingLevel,
  Refusal,
  Suppression,
  ValidationPolicy,
  HostFinding,
  HostRule,
  RulePlace,
  RuleSettings,
  RuleSeverity,
} from './validation-policy.js'
export type { Scheduler } from './scheduler.js'
export type {
  Explain,
  ExplainedCoding,
  Explanation,
  ExplanationKind,
  ExplanationOutcome,
  ExplanationReason,
  ExplanationStep,
  NearestCode,
} from '../explain/explanation.js'
