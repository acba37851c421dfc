export { lookup, type LookupInput, toParameters, type LookupProperty, type LookupResult } from './lookup.js'
