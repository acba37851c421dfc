import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { containerOfPlace, resourceTypes, type ResourceVersion } from 'fhir-ops/internal/storage'
import type { Awaitable } from 'fhir-ops/internal/work'
import { isResourceId, isResourceType, type Condition, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import type { Caller } from '../auth/caller.js'
import type { Exchange } from '../exchange.js'

/** Who asks for a resource, and where what it belongs to is looked up: the storage as that caller sees it. */
type Asking = Pick<Exchange, 'ctx' | 'caller'>

/**
 * A caller whose token names a project reaches only the bots of that project; who may not read the resource that a Binary belongs to does not reach the
 * Binary; all other resources are everybody's.
 */
export function isReached(asking: Asking, stored: { readonly type: string; readonly resource: JsonObject }): Awaitable<boolean> {
  const { type } = stored
  // A resource is parsed by its getter: for most types nobody looks into it.
  if (type === 'Binary') return isContextRead(asking, stored.resource)
  const project = asking.caller.principal?.project
  return type !== 'Bot' || project === undefined || stringAt(stored.resource, 'project') === project
}

/**
 * Where a caller may read a part of a type's resources, the context must be one of them. A context that cannot be inferred, such as an identifier, may be any
 * resource.
 *
 * @see https://hl7.org/fhir/R4/binary.html#security
 */
async function isContextRead({ ctx, caller }: Asking, binary: JsonObject): Promise<boolean> {
  if (binary['securityContext'] === undefined) return true
  const address = addressIn(stringAt(objectAt(binary, 'securityContext'), 'reference') ?? '')
  if (address === undefined)
    return fhirTypes().every((type) => caller.decide('read', type) === 'allow' && caller.within('read', type) === undefined)
  const { type, id } = address
  if (caller.decide('read', type, id) !== 'allow') return false
  return caller.within('read', type) === undefined || (await ctx.storage.read(type, id)) !== undefined
}

/** The resource that a reference leads to, of whatever server and version; `undefined` where it names none. */
export function addressIn(reference: string): { readonly type: string; readonly id: string } | undefined {
  const [path = ''] = reference.split('#')
  const [current = ''] = path.split('/_history/')
  const [type = '', id = ''] = current.split('/').slice(-2)
  return isResourceType(type) && isResourceId(id) ? { type, id } : undefined
}

/** As `isReached`. A deletion does not name the project. */
export function isVersionReached(asking: Asking, { type, stored }: Pick<ResourceVersion, 'type' | 'stored'>): Awaitable<boolean> {
  return isReached(asking, stored ?? { type, resource: {} })
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
export async function isShown(asking: Asking, stored: StoredResource): Promise<boolean> {
  const { caller } = asking
  const { type, id } = containerOfPlace(stored.id) ?? stored
  if (stored.type === 'Binary' && !(await isReached(asking, stored))) return false
  return !caller.hides || caller.decide('search', type, id) === 'allow'
}

/** As `isShown`, where a rule of the host hides anything from this caller, and where there may be Binaries. */
export function showsTo(asking: Asking, type?: string): ((resource: StoredResource) => Promise<boolean>) | undefined {
  return asking.caller.hides || type === undefined || type === 'Binary' ? (resource) => isShown(asking, resource) : undefined
}

/** The types of FHIR, which go together in what is about all types; bots are kept apart. */
export function fhirTypes(): readonly string[] {
  return resourceTypes().filter((type) => type !== 'Bot')
}
