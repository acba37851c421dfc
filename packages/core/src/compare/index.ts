export { compare, type CompareInput, type Comparison } from './compare.js'
export { compareOperation } from './operation.js'
export type { VersionPolicy } from './compare-members.js'
export type { Relationship } from './overlap.js'
