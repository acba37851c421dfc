export { cached, createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export { createContext, forRequest, type ContextOptions, type OperationContext, type RequestOptions } from './context.js'
export { explained, type Explained, type ExplainOption } from './explained.js'
export { DEFAULT_LIMITS, type Limits } from './limits.js'
export { pacedText } from './paced-text.js'
export { checkpoint, createPace, type Pace, type PaceOptions } from './pace.js'
export { createTurns, type Turns } from './turns.js'
export {
  checkReasonAndDay,
  type BestPractice,
  type FindingLevel,
  type Refusal,
  type Suppression,
  type ValidationPolicy,
} from './validation-policy.js'
