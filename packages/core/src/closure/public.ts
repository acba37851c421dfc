export { closure, toConceptMap, type ClosureInput, type ClosureResult } from './closure.js'
