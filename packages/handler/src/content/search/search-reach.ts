import { containerOfPlace, type Condition, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { Caller } from '../../auth/caller.js'

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
