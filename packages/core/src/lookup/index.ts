export { lookup, type LookupInput, type LookupOptions, toParameters, type LookupProperty, type LookupResult } from './lookup.js'
