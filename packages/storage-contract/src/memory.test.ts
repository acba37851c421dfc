import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { sessionStoreContract, storageContract } from './index.js'

storageContract('memory', ({ now }) => ({ storage: memoryStorage([], { now }) }), {
  'what was written is there after reopening': 'memory storage keeps nothing by design',
})

sessionStoreContract('memory', () => ({ store: memorySessionStore() }))
