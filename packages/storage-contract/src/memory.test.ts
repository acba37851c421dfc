import { memoryConceptStore, memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { conceptStoreContract, sessionStoreContract, storageContract } from './index.js'

storageContract('memory', ({ now }) => ({ storage: memoryStorage([], { now }) }), {
  'what was written is there after reopening': 'memory storage keeps nothing by design',
})

sessionStoreContract('memory', () => ({ store: memorySessionStore() }))

conceptStoreContract('memory', () => ({ store: memoryConceptStore() }), {
  'what was published is there after reopening': 'memory keeps nothing by design',
})
