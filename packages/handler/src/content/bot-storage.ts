import { OperationError, quoted } from 'fhir-ops/errors'
import type { BotStorage } from 'fhir-ops/execute'
import { stringAt, type JsonObject } from 'fhir-ops/json'
import { parseSearch, searchTypesOf } from 'fhir-ops/search'
import { isResourceType, putResource, storedResource } from 'fhir-ops/storage'
import { authorize } from '../auth/caller.js'
import { parseQuery } from '../http/target.js'
import type { Call } from '../routes/route.js'
import type { Service } from '../service.js'
import { checkValid } from './check-valid.js'
import { searchOptions } from './search/search-options.js'

const MAX_FOUND = 1_000

/** Stored resources as a bot sees them: what its caller may do (SC-05), and nothing with Bots. */
export function botStorage(service: Service, call: Call): BotStorage {
  const { storage } = call.ctx
  return {
    async read(type, id) {
      checkType(type)
      authorize(call.caller, { action: 'read', type, id })
      return (await storage.read(type, id))?.resource
    },
    search: (query) => search(service, call, query),
    write: (resource) => write(service, call, resource),
  }
}

/** @throws {OperationError} `search-unsupported` when the service has no search; as `parseSearch`. */
async function search(service: Service, { ctx, caller }: Call, query: string): Promise<readonly JsonObject[]> {
  const options = searchOptions(service, { ctx, caller })
  const mark = query.includes('?') ? query.indexOf('?') : query.length
  const [type, parameters] = [query.slice(0, mark), query.slice(mark + 1)]
  const { query: parsed } = await parseSearch(type, parseQuery(parameters, service.limits), options)
  for (const searched of searchTypesOf(parsed)) {
    checkType(searched)
    authorize(caller, { action: 'search', type: searched })
  }
  const { items } = await ctx.storage.search({ ...parsed, limit: Math.min(parsed.limit ?? MAX_FOUND, MAX_FOUND) })
  return items.filter(({ type: found, id }) => caller.decide('search', found, id) === 'allow').map(({ resource }) => resource)
}

async function write(service: Service, { ctx, caller }: Call, resource: JsonObject): Promise<JsonObject> {
  const type = stringAt(resource, 'resourceType') ?? ''
  checkType(type)
  const given = stringAt(resource, 'id')
  const id = given ?? ctx.newId()
  authorize(caller, given === undefined ? { action: 'create', type } : { action: 'update', type, id })
  await checkValid(service, ctx, { type, source: resource })
  const entry = putResource({ type, id, source: resource, ifVersion: given === undefined ? null : undefined }, service.indexer)
  const [result] = await ctx.storage.write([entry])
  if (result === undefined) throw new TypeError('The storage gave no result for a write.')
  return storedResource({ ...entry, versionId: result.versionId ?? '', lastUpdated: result.lastUpdated }).resource
}

function checkType(type: string): void {
  if (isResourceType(type) && type !== 'Bot') return
  throw new OperationError('forbidden', `Bots have no access to resources of the type ${quoted(type)}.`)
}
