import type { JsonObject } from 'fhir-ops/internal/json'

/** A profile as authors write it: constraints on elements, based on the definition of a type. */
export function profileOn(type: string, url: string, element: readonly JsonObject[]): JsonObject {
  return {
    resourceType: 'StructureDefinition',
    url,
    name: 'P',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type,
    baseDefinition: `http://hl7.org/fhir/StructureDefinition/${type}`,
    derivation: 'constraint',
    differential: { element },
  }
}
