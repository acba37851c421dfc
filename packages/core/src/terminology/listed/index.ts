export { storeConcepts } from './store-concepts.js'
