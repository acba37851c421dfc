import { objectsAt } from '../json/index.js'
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
