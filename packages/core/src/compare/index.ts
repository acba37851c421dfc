export { compare, toParameters, type CompareInput, type CompareResult } from './compare.js'
export type { VersionPolicy } from './compare-definitions.js'
export type { OverlapCodes, Relationship } from './overlap.js'
