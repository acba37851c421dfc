export { tenantSessionStore, tenantStorage } from './tenant-storage.js'
