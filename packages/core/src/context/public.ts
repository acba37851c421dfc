export {
  createContext,
  forRequest,
  DEFAULT_LIMITS,
  type ContextOptions,
  type OperationContext,
  type Progress,
  type Limits,
} from './context.js'
export { createCache, type Cache } from './cache.js'
export type { Suppression, ValidationPolicy, HostRule, RuleSettings } from './validation-policy.js'
export type { Explanation } from '../explain/explanation.js'
export type { Coverage } from '../explain/criteria.js'
