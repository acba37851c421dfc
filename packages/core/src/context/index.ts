export { cached, createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export {
  forRequest,
  DEFAULT_LIMITS,
  type OperationContext,
  type Progress,
  type LibraryChecker,
  type LibraryProblem,
  type RequestOptions,
  type Limits,
  explained,
  type Explained,
  type ExplainOption,
} from './context.js'
export { createContext, type ContextOptions } from './create-context.js'
export {
  COMPARTMENT_TYPES,
  COMPARTMENTS,
  compartmentCondition,
  compartmentMembers,
  leadsTo,
  type CompartmentMembers,
} from './compartments.js'
export { createKeyedLock, createLimiter, type KeyedLock, type Limiter, type LimiterOptions } from './limiter.js'
export {
  type Pace,
  type PaceOptions,
  type Scheduler,
  type ThreadUse,
  type Waiter,
  checkpoint,
  createPace,
  createScheduler,
  paced,
  pacedResource,
  pacedText,
} from './pace.js'
export {
  checkReasonAndDay,
  type BestPractice,
  type QuestionnaireMode,
  type ReferenceCheck,
  VALIDATION_MEMBERS,
  type FindingLevel,
  type HostFinding,
  type HostRule,
  type Refusal,
  type RulePlace,
  type RuleSettings,
  type RuleSeverity,
  type Suppression,
  type ValidationPolicy,
  type VitalSigns,
} from './validation-policy.js'
export type { ExplainedCoding, ExplanationKind, ExplanationOutcome, ExplanationReason } from '../explain/explanation.js'
