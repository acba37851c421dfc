export { tenantStorage, tenantSessionStore } from './tenant-storage.js'
