export { listedSystem, type ListedSystem, storeConcepts, type ConceptSequence } from './listed-system.js'
export { loinc, LOINC } from './loinc.js'
export { rxnorm, RXNORM } from './rxnorm.js'
