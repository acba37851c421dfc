export { listedSystem, type ListedSystem } from './listed-system.js'
export { loinc, LOINC } from './loinc.js'
export { rxnorm, RXNORM } from './rxnorm.js'
export { storeConcepts, type ConceptSequence } from './store-concepts.js'
