import type { Condition, SearchQuery, StoredResource } from 'fhir-ops/storage'
import type { Caller } from '../auth/caller.js'

/** Callers with a project find the bots of that project only. `parameters` would still speak of all of them. */
export function inReach(query: SearchQuery, { principal }: Caller): SearchQuery {
  if (query.type !== 'Bot' || principal?.project === undefined) return query
  const own: Condition = { kind: 'entry', param: 'project', all: [{ field: 'value', op: 'eq', operand: principal.project }] }
  const { parameters: _ofAll, ...narrowed } = query
  return { ...narrowed, where: { kind: 'and', conditions: [query.where, own] } }
}

/** False for what a rule of the host hides from this caller. */
export function isShown(caller: Caller, { type, id }: StoredResource): boolean {
  return !caller.hides || caller.decide('search', type, id) === 'allow'
}
