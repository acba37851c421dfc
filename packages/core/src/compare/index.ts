export { compare, type CompareInput, type Comparison, type Relationship } from './compare.js'
export { compareOperation } from './operation.js'
export type { VersionPolicy } from './compare-members.js'
