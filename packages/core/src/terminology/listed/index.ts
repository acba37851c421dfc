export { storeConcepts, type ConceptSequence } from './store-concepts.js'
