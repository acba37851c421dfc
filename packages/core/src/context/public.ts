export {
  forRequest,
  DEFAULT_LIMITS,
  type OperationContext,
  type Progress,
  type Limits,
  type Suppression,
  type ValidationPolicy,
  type HostRule,
  type RuleSettings,
} from './context.js'
export { createContext, type ContextOptions } from './create-context.js'
export { createCache, type Cache } from './cache.js'
export type { Explanation, Coverage } from '../explain/explanation.js'
