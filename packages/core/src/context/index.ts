export { cached, createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export {
  type BestPractice,
  DEFAULT_LIMITS,
  type ExplainOption,
  type Explained,
  type FindingLevel,
  type HostFinding,
  type HostRule,
  type LibraryChecker,
  type LibraryProblem,
  type Limits,
  type OperationContext,
  type Progress,
  type QuestionnaireMode,
  type ReferenceCheck,
  type Refusal,
  type RequestOptions,
  type RulePlace,
  type RuleSettings,
  type RuleSeverity,
  type Suppression,
  type ValidationPolicy,
  type VitalSigns,
  type ResourceIdRule,
  type MustSupportReport,
  checkReasonAndDay,
  explained,
  forRequest,
} from './context.js'
export { createContext, VALIDATION_MEMBERS, type ContextOptions } from './create-context.js'
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
export type { ExplainedCoding, ExplanationKind, ExplanationOutcome, ExplanationReason } from '../explain/explanation.js'
