import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { containerOfPlace, resourceTypes } from 'fhir-ops/internal/storage'
import type { Condition, ResourceVersion, SearchQuery, StoredResource } from 'fhir-ops/storage'
import type { Caller } from '../auth/caller.js'

/** A caller whose token names a project reaches only the bots of that project; all other resources are everybody's. */
export function isReached(caller: Caller, { type, resource }: { readonly type: string; readonly resource: JsonObject }): boolean {
  const project = caller.principal?.project
  return type !== 'Bot' || project === undefined || stringAt(resource, 'project') === project
}

/** As `isReached`. A deletion does not name the project. */
export function isVersionReached(caller: Caller, { type, stored }: Pick<ResourceVersion, 'type' | 'stored'>): boolean {
  return isReached(caller, stored ?? { type, resource: {} })
}

/** Callers with a project find the bots of that project only. */
export function inReach(query: SearchQuery, { principal }: Caller): SearchQuery {
  if (query.type !== 'Bot' || principal?.project === undefined) return query
  const own: Condition = { kind: 'entry', param: 'project', all: [{ field: 'value', op: 'eq', operand: principal.project }] }
  return narrowed(query, own)
}

/** The query with one more condition. `parameters` would still speak of the wider one. */
export function narrowed({ parameters: _ofAll, ...query }: SearchQuery, condition: Condition): SearchQuery {
  return { ...query, where: { kind: 'and', conditions: [query.where, condition] } }
}

/** False for what a rule of the host hides from this caller; what is contained is hidden with its container. */
export function isShown(caller: Caller, stored: StoredResource): boolean {
  const { type, id } = containerOfPlace(stored.id) ?? stored
  return !caller.hides || caller.decide('search', type, id) === 'allow'
}

/** As `isShown`, where a rule of the host hides anything from this caller. */
export function showsTo(caller: Caller): ((resource: StoredResource) => boolean) | undefined {
  return caller.hides ? (resource) => isShown(caller, resource) : undefined
}

/** The types of FHIR, which go together in what is about all types; bots are kept apart. */
export function fhirTypes(): readonly string[] {
  return resourceTypes().filter((type) => type !== 'Bot')
}
