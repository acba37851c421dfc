import type { CodeableConcept } from 'fhir/r4.js'
import { isObject, type JsonObject } from '../json/index.js'

/** A concept of a Measure or of what is counted, which a report copies as it is. */
export function conceptOf(concept: JsonObject | undefined): CodeableConcept | undefined {
  return isConcept(concept) ? concept : undefined
}

function isConcept(value: unknown): value is CodeableConcept {
  return isObject(value)
}
