export { memoryStorage } from './memory-storage.js'
export { memorySessionStore, memoryConceptStore } from './stores.js'
