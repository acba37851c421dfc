export { httpStorage } from './http-storage.js'
export type { HttpStorageOptions } from './options.js'
