export { memoryStorage, type MemoryStorageOptions } from './memory-storage.js'
export { memoryConceptStore, memorySessionStore } from './stores.js'
export { meetsCondition, type FoundBy } from './matches.js'
