export { lookup, type LookupInput } from './lookup.js'
export { toParameters, type LookupProperty, type LookupResult } from './result.js'
