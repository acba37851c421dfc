import { OperationError } from '../errors/index.js'
import { objectsAt } from '../json/index.js'
import type { Condition } from '../storage/index.js'
import { cached, type CacheKind } from './cache.js'
import type { OperationContext } from './context.js'

/** Canonicals of the compartments of R4, by the type of the resource that owns the compartment. */
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

/** Search parameters that link to the compartment, by type of the member. */
export type CompartmentMembers = ReadonlyMap<string, readonly string[]>

/**
 * Returns the resource types in the compartments of a type, each with its linking search parameters; `undefined` when there is no definition.
 *
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function compartmentMembers(
  { content, cache }: Pick<OperationContext, 'cache' | 'content'>,
  type: string,
): Promise<CompartmentMembers | undefined> {
  const url = DEFINITIONS.get(type)
  const definition = url === undefined ? undefined : await content.resolve('CompartmentDefinition', url)
  return definition && cached(cache, MEMBERS, definition)
}

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

/** All resources of the type `member` in the compartment of one resource. */
interface Compartment {
  readonly type: string
  readonly id: string
  readonly member: string
}

/**
 * Returns the condition that a resource belongs to a compartment: one of the reference parameters in the definition refers to the compartment's resource.
 *
 * @throws {OperationError} `not-found` if no resources of that type belong to the compartment; `search-unsupported` without a definition.
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function compartmentCondition(ctx: OperationContext, { type, id, member }: Compartment): Promise<Condition> {
  const members = await compartmentMembers(ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const params = members.get(member)
  if (params === undefined) throw new OperationError('not-found', `No ${member} belongs to the compartment of a ${type}.`)
  return leadsTo(params, { type, id })
}

/** Condition that one of the parameters refers to the resource; `{def}` stands for the resource itself. */
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
