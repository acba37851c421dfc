export { cached, createCache, type Cache, type CacheKind, type CacheOptions } from './cache.js'
export { createContext, forRequest, type ContextOptions, type OperationContext, type RequestOptions } from './context.js'
export { DEFAULT_LIMITS, type Limits } from './limits.js'
export { checkpoint, createPace, type Pace, type PaceOptions } from './pace.js'
