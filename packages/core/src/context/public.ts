export {
  createContext,
  forRequest,
  DEFAULT_LIMITS,
  type ContextOptions,
  type OperationContext,
  type RequestOptions,
  type Explained,
  type ExplainOption,
  type Limits,
} from './context.js'
export { createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export type {
  BestPractice,
  QuestionnaireMode,
  ReferenceCheck,
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
