export { closure, toConceptMap, type ClosureInput, type ClosureResult } from './closure.js'
export type { ClosureConcept, ClosureEntry } from './closure-state.js'
