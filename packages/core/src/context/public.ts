export {
  DEFAULT_LIMITS,
  type HostRule,
  type Limits,
  type OperationContext,
  type Progress,
  type RuleSettings,
  type Suppression,
  type ValidationPolicy,
  forRequest,
} from './context.js'
export { createContext, type ContextOptions } from './create-context.js'
export { createCache, type Cache } from './cache.js'
export type { Coverage, Explanation } from '../explain/explanation.js'
