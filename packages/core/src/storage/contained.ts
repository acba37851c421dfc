import { metaPrefix } from './stored-resource.js'
import type { PutEntry } from './storage.js'

/** The parameter by which a resource refers to those within it; no code of a search parameter is like it. */
export const CONTAINED_PARAM = '#'

/** What resources of a type are called in a storage where they are contained in another: no type of FHIR, so that no other search finds them. */
export function containedType(type: string): string {
  return `#${type}`
}

/** Where `refersTo` looks for resources of a type: by themselves, and within others. No id is one in both places. */
export function placesOf(type: string): readonly string[] {
  return isContainedType(type) ? [type] : [type, containedType(type)]
}

/** Whether a type is one of `containedType`. */
export function isContainedType(type: string): boolean {
  return type.startsWith('#')
}

/** Type and id of the container of a contained resource with this id in storage; `undefined` for ids of independent resources. */
export function containerOfPlace(id: string): { readonly type: string; readonly id: string } | undefined {
  const [, type, container] = /^([A-Za-z]+)\/([^#]+)#/.exec(id) ?? []
  return type === undefined || container === undefined ? undefined : { type, id: container }
}

/** The resources within one that is put, as puts of their own; their text has nothing but type and id. */
export function containedPuts({ contained = [] }: PutEntry): readonly PutEntry[] {
  return contained.map(({ type, id, entries }) => ({ op: 'put', type, id, text: `${metaPrefix(type, id)}}}`, entries }))
}
