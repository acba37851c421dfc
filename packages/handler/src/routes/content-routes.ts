import { authorize } from '../auth/caller.js'
import type { Action } from '../auth/scopes.js'
import { readResource, readVersion } from '../content/read.js'
import { createResource, deleteResource, updateResource } from '../content/write.js'
import { FHIR_PATH, type Service } from '../service.js'
import { param, type Call, type Route } from './route.js'

const TYPE = `${FHIR_PATH}/:type`
const INSTANCE = `${TYPE}/:id`

/** Reading, writing and finding resources. */
export function contentRoutes(service: Service): readonly Route[] {
  const read = { ...needing('read'), method: 'GET', body: 'none' } as const
  const write = { body: 'fhir', maxBytes: (type: string) => maxBytesOf(service, type) } as const
  return [
    { ...read, path: INSTANCE, interaction: 'read', summary: 'A resource', run: readResource },
    { ...read, path: `${INSTANCE}/_history/:version`, interaction: 'vread', summary: 'A resource, if its version is still the current one', run: readVersion },
    {
      ...needing('create'),
      ...write,
      method: 'POST',
      path: TYPE,
      interaction: 'create',
      summary: 'Stores a resource under a new id',
      run: (call) => createResource(service, call),
    },
    {
      ...needing('update'),
      ...write,
      method: 'PUT',
      path: INSTANCE,
      interaction: 'update',
      summary: 'Stores a resource under this id',
      run: (call) => updateResource(service, call),
    },
    {
      ...needing('delete'),
      method: 'DELETE',
      path: INSTANCE,
      body: 'none',
      interaction: 'delete',
      summary: 'Deletes a resource',
      run: deleteResource,
    },
  ]
}

function needing(action: Action): Pick<Route, 'access' | 'needs' | 'authorize'> {
  return {
    access: 'token',
    needs: `${action.charAt(0)} on the type`,
    authorize: (call: Call) => authorize(call.caller, { action, type: param(call, 'type'), id: call.params.get('id') }),
  }
}

const TERMINOLOGY: ReadonlySet<string> = new Set(['CodeSystem', 'ConceptMap', 'ValueSet'])

function maxBytesOf({ limits }: Service, type: string): number {
  return TERMINOLOGY.has(type) ? limits.terminologyBytes : limits.bodyBytes
}
