import type { ConceptSequence } from '../index.js'
import type { Scratch } from '@fhir-ops/releases'

/** The finished concepts of an import, in order; each is read when it is iterated. */
export function madeConcepts(tables: Scratch<'concept'>): ConceptSequence {
  return {
    length: tables.size('concept'),
    *[Symbol.iterator]() {
      for (const text of tables.all('concept')) yield JSON.parse(text)
    },
  }
}
