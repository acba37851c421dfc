export { conceptStoreContract, type ConceptStoreFactory, type OpenedConceptStore } from './concept-store-contract.js'
export { storageContract, type OpenedStorage, type Skips, type StorageFactory } from './storage-contract.js'
export { sessionStoreContract, type OpenedSessionStore, type SessionStoreFactory } from './session-store-contract.js'
