export { expand, expandStream, openExpansion } from './expand.js'
export { searchCodes } from './search-codes.js'
export type { ExpandInput } from './input.js'
export { type ExpandResult, type ExpansionEntry, toValueSet, toContains } from './result.js'
