export { memoryStorage } from './memory-storage.js'
export { memorySessionStore } from './session-store.js'
export { memoryConceptStore } from './concept-store.js'
