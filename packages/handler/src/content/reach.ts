import { stringAt, type JsonObject } from 'fhir-ops/json'
import type { ResourceVersion } from 'fhir-ops/storage'
import type { Caller } from '../auth/caller.js'

/** A caller whose token names a project reaches only the bots of that project; all other resources are everybody's. */
export function isReached(caller: Caller, { type, resource }: { readonly type: string; readonly resource: JsonObject }): boolean {
  const project = caller.principal?.project
  return type !== 'Bot' || project === undefined || stringAt(resource, 'project') === project
}

/** As `isReached`. A deletion does not tell the project. */
export function isVersionReached(caller: Caller, { type, stored }: Pick<ResourceVersion, 'type' | 'stored'>): boolean {
  return isReached(caller, stored ?? { type, resource: {} })
}
