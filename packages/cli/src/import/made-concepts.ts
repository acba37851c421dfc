import type { ConceptSequence } from 'fhir-ops/terminology/listed'
import type { Scratch } from './scratch.js'

/** The concepts that an import has made, in their order, each read when it is taken. */
export function madeConcepts(tables: Scratch<'concept'>): ConceptSequence {
  return {
    length: tables.size('concept'),
    *[Symbol.iterator]() {
      for (const text of tables.all('concept')) yield JSON.parse(text)
    },
  }
}
