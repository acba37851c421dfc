import type { JsonObject } from 'fhir-ops/json'
import { once } from 'fhir-ops/terminology'
import { rowsOf } from '../evaluate/row-range.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { propertiesOf } from './properties.js'
import { definitionOf, displayTerm, type DisplayDialect } from './texts.js'

/** A concept in the form of `CodeSystem.concept`. What is not asked for is not read; the display is read once. */
export function conceptElement(index: SnomedIndex, concept: number, dialect: DisplayDialect): JsonObject {
  const display = once(() => displayTerm(index, concept, dialect))
  return {
    get code() {
      return index.id(concept)
    },
    get display() {
      return display()
    },
    get definition() {
      return definitionOf(index, concept)
    },
    get property() {
      const isDefined = { code: 'sufficientlyDefined', valueBoolean: index.isDefined(concept) }
      return [...propertiesOf(index, concept, rowsOf(index, concept)), isDefined]
    },
  }
}
