export { tenantStorage } from './tenant-storage.js'
export { tenantSessionStore } from './tenant-session-store.js'
