export { memoryStorage } from './memory-storage.js'
export { memoryConceptStore, memorySessionStore } from './stores.js'
