export { compare, toParameters, type CompareInput, type CompareResult } from './compare.js'
export type { VersionPolicy, OverlapCodes, Relationship } from './compare-definitions.js'
