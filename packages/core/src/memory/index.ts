export { memoryStorage, type MemoryStorageOptions } from './memory-storage.js'
export { memorySessionStore } from './session-store.js'
export { meetsCondition, type FoundBy } from './matches.js'
export { memoryConceptStore } from './concept-store.js'
