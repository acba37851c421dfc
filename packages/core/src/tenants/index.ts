export { tenantSessionStore } from './tenant-session-store.js'
export { tenantStorage } from './tenant-storage.js'
