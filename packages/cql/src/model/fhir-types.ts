import type { TypeModel } from 'fhir-ops/fhirpath'
import { isSubtype } from 'fhir-ops/internal/fhirpath'
import type { FhirElement } from '../values/value.js'

/** Whether an element is of a FHIR type or of a type derived from it. */
export function isElementOfType(model: TypeModel, { type }: FhirElement, name: string): boolean {
  return type.name === name || isSubtype(model, type, name)
}

/** Creates the CQL value of a JSON resource, which must not change afterwards; `undefined` if the model does not know its type. */
export function resourceElement(model: TypeModel, json: unknown): FhirElement | undefined {
  const name = typeof json === 'object' && json !== null && 'resourceType' in json ? json.resourceType : undefined
  const type = typeof name === 'string' ? model.type(name) : undefined
  return type === undefined ? undefined : { kind: 'fhir', type, json }
}

/** The reference of a resource, `Encounter/e1`. For an element that is not a resource, its content takes the place of the id. */
export function referenceOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' ? json.id : JSON.stringify(json)
  return `${type.name}/${id}`
}
