export { delegated, type DelegateOptions } from './delegate.js'
export { httpStorage } from './http-storage.js'
export type { HttpStorageOptions } from './options.js'
