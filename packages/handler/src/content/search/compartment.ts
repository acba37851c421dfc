import { cached, type CacheKind } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectsAt } from 'fhir-ops/internal/json'
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
export async function compartmentCondition(ctx: OperationContext, { type, id, member }: Compartment): Promise<Condition> {
  const members = await compartmentMembers(ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const params = members.get(member)
  if (params === undefined) throw new OperationError('not-found', `No ${member} belongs to the compartment of a ${type}.`)
  return leadsTo(params, { type, id })
}

/** The types that belong to the compartments of resources of a type, each with the parameters that lead there; `undefined` without definition. */
export async function compartmentMembers({ content, cache }: OperationContext, type: string): Promise<CompartmentMembers | undefined> {
  const definition = await content.resolve('CompartmentDefinition', DEFINITIONS.get(type) ?? '')
  return definition && cached(cache, MEMBERS, definition)
}

/** Search parameters by the type of the member. */
export type CompartmentMembers = ReadonlyMap<string, readonly string[]>

const MEMBERS: CacheKind<CompartmentMembers> = {
  name: 'compartment-members',
  is: (value): value is CompartmentMembers => value instanceof Map,
  bytes: (members) => members.size * 200,
  make: ({ resource }) =>
    new Map(
      objectsAt(resource, 'resource').flatMap(({ code, param }) =>
        typeof code === 'string' && Array.isArray(param) && param.length > 0 ? [[code, param.map(String)] as const] : [],
      ),
    ),
}

/** One of the parameters leads to the resource; `{def}` means the resource itself. */
export function leadsTo(params: readonly string[], { type, id }: Pick<Compartment, 'type' | 'id'>): Condition {
  const conditions = params.map((param): Condition => {
    if (param === '{def}') return { kind: 'id', ids: [id] }
    const all = [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ] as const
    return { kind: 'entry', param, all }
  })
  return { kind: 'or', conditions }
}
