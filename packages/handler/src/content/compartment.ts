import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectsAt, stringAt } from 'fhir-ops/json'
import type { Condition } from 'fhir-ops/storage'

/** The compartments of R4, by the type of the resource that each is of. */
const DEFINITIONS: ReadonlyMap<string, string> = new Map([
  ['Device', 'http://hl7.org/fhir/CompartmentDefinition/device'],
  ['Encounter', 'http://hl7.org/fhir/CompartmentDefinition/encounter'],
  ['Patient', 'http://hl7.org/fhir/CompartmentDefinition/patient'],
  ['Practitioner', 'http://hl7.org/fhir/CompartmentDefinition/practitioner'],
  ['RelatedPerson', 'http://hl7.org/fhir/CompartmentDefinition/relatedPerson'],
])

/** Types whose resources have a compartment. */
export const COMPARTMENT_TYPES: readonly string[] = [...DEFINITIONS.keys()]

/** Canonicals of all compartments. */
export const COMPARTMENTS: readonly string[] = [...DEFINITIONS.values()]

/** All resources of the type `member` in the compartment of one resource. */
export interface Compartment {
  readonly type: string
  readonly id: string
  readonly member: string
}

/**
 * The condition that a resource is in a compartment: one of the reference parameters that the definition names leads to its resource.
 *
 * @throws {OperationError} `not-found` when no resources of that type belong to the compartment; `search-unsupported` without definition.
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function compartmentCondition({ content }: OperationContext, { type, id, member }: Compartment): Promise<Condition> {
  const definition = await content.resolve('CompartmentDefinition', DEFINITIONS.get(type) ?? '')
  if (definition === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const members = objectsAt(definition.resource, 'resource').filter((row) => stringAt(row, 'code') === member)
  const conditions = members
    .flatMap(({ param }) => (Array.isArray(param) ? param : []))
    .map((param) => leadsTo(String(param), { type, id }))
  if (conditions.length === 0) throw new OperationError('not-found', `No ${member} belongs to the compartment of a ${type}.`)
  return { kind: 'or', conditions }
}

/** `{def}` stands for the resource itself. */
function leadsTo(param: string, { type, id }: Pick<Compartment, 'type' | 'id'>): Condition {
  if (param === '{def}') return { kind: 'id', ids: [id] }
  return {
    kind: 'entry',
    param,
    all: [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ],
  }
}
