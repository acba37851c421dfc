import type { ConceptSequence } from '../index.js'
import type { Scratch } from '@fhir-ops/releases'

/** The concepts that an import has made, in their order, each read when it is taken. */
export function madeConcepts(tables: Scratch<'concept'>): ConceptSequence {
  return {
    length: tables.size('concept'),
    *[Symbol.iterator]() {
      for (const text of tables.all('concept')) yield JSON.parse(text)
    },
  }
}
