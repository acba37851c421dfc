export { expand, expandStream, openExpansion, searchCodes } from './expand.js'
export type { ExpandInput } from './input.js'
export { type ExpandResult, type ExpansionEntry, toValueSet, toContains } from './result.js'
