export { lookup, type LookupInput, type LookupOptions } from './lookup.js'
export { toParameters, type LookupProperty, type LookupResult } from './result.js'
