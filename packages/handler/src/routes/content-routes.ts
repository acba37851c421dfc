import { authorize } from '../auth/caller.js'
import type { Action } from '../auth/scopes.js'
import { runBatch, type ServePart } from '../content/batch.js'
import { readResource, readVersion } from '../content/read.js'
import { searchResources } from '../content/search.js'
import { createResource, deleteResource, updateResource } from '../content/write.js'
import { FHIR_PATH, type Service } from '../service.js'
import { param, type Call, type Route } from './route.js'

const TYPE = `${FHIR_PATH}/:type`
const INSTANCE = `${TYPE}/:id`

/** Reading, finding and writing resources. */
export function contentRoutes(service: Service, servePart: ServePart): readonly Route[] {
  return [...readRoutes(), ...searchRoutes(service), ...writeRoutes(service), batchRoute(servePart)]
}

function readRoutes(): readonly Route[] {
  const row = { ...needing('read'), method: 'GET', body: 'none' } as const
  const version = `${INSTANCE}/_history/:version`
  return [
    { ...row, path: INSTANCE, interaction: 'read', summary: 'A resource', run: readResource },
    { ...row, path: version, interaction: 'vread', summary: 'A resource, while this version is the current one', run: readVersion },
  ]
}

function searchRoutes(service: Service): readonly Route[] {
  const options = service.ctx.search
  if (options === undefined) return []
  const row = {
    access: 'token',
    needs: 's on the type, and on the types of chained parameters',
    summary: 'Resources that match all parameters',
    run: (call: Call) => searchResources(service, call, options),
  } as const
  return [
    { ...row, method: 'GET', path: TYPE, body: 'none', interaction: 'search-type' },
    { ...row, method: 'POST', path: `${TYPE}/_search`, body: 'optional-form' },
  ]
}

function writeRoutes(service: Service): readonly Route[] {
  const row = { body: 'fhir', maxBytes: (type: string) => maxBytesOf(service, type) } as const
  const create = { ...row, ...needing('create'), method: 'POST', path: TYPE } as const
  const update = { ...row, ...needing('update'), method: 'PUT', path: INSTANCE } as const
  const remove = { ...needing('delete'), body: 'none', method: 'DELETE', path: INSTANCE } as const
  return [
    { ...create, interaction: 'create', summary: 'Stores a resource under a new id', run: (call) => createResource(service, call) },
    { ...update, interaction: 'update', summary: 'Stores a resource under this id', run: (call) => updateResource(service, call) },
    { ...remove, interaction: 'delete', summary: 'Deletes a resource', run: deleteResource },
  ]
}

function batchRoute(servePart: ServePart): Route {
  return {
    access: 'token',
    method: 'POST',
    path: FHIR_PATH,
    body: 'fhir',
    needs: 'what each entry needs',
    interaction: 'batch',
    summary: 'A batch of the other requests below this path',
    run: (call) => runBatch(call, servePart),
  }
}

function needing(action: Action): Pick<Route, 'access' | 'needs' | 'authorize'> {
  return {
    access: 'token',
    needs: `${action.charAt(0)} on the type`,
    authorize: (call: Call) => authorize(call.caller, { action, type: param(call, 'type'), id: call.params.get('id') }),
  }
}

const TERMINOLOGY: ReadonlySet<string> = new Set(['CodeSystem', 'ConceptMap', 'ValueSet'])

/** Terminology is stored in one piece, however large. */
function maxBytesOf({ limits }: Service, type: string): number {
  return TERMINOLOGY.has(type) ? limits.terminologyBytes : limits.bodyBytes
}
