import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { containerOfPlace, resourceTypes, type ResourceVersion } from 'fhir-ops/internal/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import { isResourceId, isResourceType, type Condition, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import { notFound, type Caller } from '../auth/caller.js'
import type { Exchange } from '../exchange.js'

/** Who asks for a resource, and where what it belongs to is looked up: the storage as that caller sees it. */
type Asking = Pick<Exchange, 'ctx' | 'caller'>

/**
 * A caller whose token names a project reaches only the bots of that project; who may not read the resource that a Binary belongs to does not reach the
 * Binary; all other resources are everybody's.
 */
export function isReached(asking: Asking, stored: { readonly type: string; readonly resource: JsonObject }): Awaitable<boolean> {
  const { type } = stored
  // A resource is parsed by its getter: for most types it is not read.
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
  if (address === undefined) return readsEverything(caller)
  const { type, id } = address
  if (caller.decide('read', type, id) !== 'allow') return false
  return caller.within('read', type) === undefined || (await ctx.storage.read(type, id)) !== undefined
}

function readsEverything(caller: Caller): boolean {
  return fhirTypes().every((type) => caller.decide('read', type) === 'allow' && caller.within('read', type) === undefined)
}

/**
 * What engines ask before they look through the resources of a type: they see all of them, also Binaries that belong to what the caller may not read.
 *
 * @throws {OperationError} `forbidden`
 */
export function checkLookedThrough(caller: Caller, type: string): void {
  if (type === 'Binary' && !readsEverything(caller))
    throw new OperationError(
      'forbidden',
      'The access token does not allow looking through Binaries: they may belong to what it does not allow to read.',
    )
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

/** @throws {OperationError} `not-found`: what is out of the caller's reach looks as if it did not exist, and cannot be replaced. */
export function checkReach(asking: Asking, type: string, id: string): Awaitable<void> {
  return after(isInReach(asking, type, id), (reached) => {
    if (!reached) throw notFound(type, id)
  })
}

/** False for a resource that is there and out of the caller's reach. */
export function isInReach(asking: Asking, type: string, id: string): Awaitable<boolean> {
  if (type !== 'Bot' && type !== 'Binary') return true
  return after(asking.ctx.storage.read(type, id), (stored) => stored === undefined || isReached(asking, stored))
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

interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** Which items are looked at. */
export interface Part {
  readonly limit: number
  /** As of `SearchQuery`. */
  readonly maxBytes?: number
  readonly after?: string
}

/** Where pages come from, and which of their items are shown. */
interface ShownPages<T> {
  readonly ctx: Pick<OperationContext, 'signal' | 'deadline' | 'scheduler' | 'threadUse' | 'limits'>
  readonly pageOf: (part: Part) => Promise<Page<T>>
  /** Absent where all are. */
  readonly shows: Shows<T> | undefined
  /** How long an item is. */
  readonly lengthOf: (item: T) => number
}

type Shows<T> = (item: T) => boolean | Promise<boolean>

/** Most items that are looked at in one go. */
const MAX_PART = 1_000

/** A page is short where an answer with it could become too long. Resources that come besides the matches have room, too. */
const PART_OF_ANSWER = 1 / 4

/** `maxBytes` of a page of matches. */
export function pageBytes({ limits }: Pick<OperationContext, 'limits'>): number {
  return Math.floor(limits.maxAnswerBytes * PART_OF_ANSWER)
}

/**
 * A page as if there were nothing but what is shown: full where there is enough, with a next one where there is more. A cursor names the item
 * that it comes after, so it is that of an item that is shown.
 */
export async function shownPage<T>({ ctx, pageOf, shows, lengthOf }: ShownPages<T>, { limit, after }: Part): Promise<Page<T>> {
  const maxBytes = pageBytes(ctx)
  if (shows === undefined) return pageOf({ limit, maxBytes, ...(after !== undefined && { after }) })
  const pace = createPace(ctx)
  const shown: T[] = []
  const isFull = (): boolean => shown.length === limit || bytes > maxBytes
  let bytes = 0
  let end: string | undefined
  let part: Part | undefined = { limit, maxBytes, ...(after !== undefined && { after }) }
  while (part !== undefined) {
    pace.check()
    const { items, next }: Page<T> = await pageOf(part)
    const places = await placesOf(items, shows, pace)
    let last: number | undefined
    for (const at of places) {
      if (isFull()) break
      shown.push(...items.slice(at, at + 1))
      bytes += items.slice(at, at + 1).reduce((sum, item) => sum + lengthOf(item), 0)
      last = at
    }
    if (last !== undefined) end = last === items.length - 1 ? next : (await pageOf({ ...part, limit: last + 1 })).next
    if (places.some((at) => at > (last ?? -1))) return { items: shown, ...(end !== undefined && { next: end }) }
    part = next === undefined ? undefined : { limit: Math.min(2 * part.limit, Math.max(limit, MAX_PART)), maxBytes, after: next }
  }
  return { items: shown }
}

/** To look at an item takes a part of a millisecond, and all may be looked at before one is shown. */
async function placesOf<T>(items: readonly T[], shows: Shows<T>, pace: Pace): Promise<readonly number[]> {
  const places: number[] = []
  for (const [at, item] of items.entries()) {
    await pace.step()
    if (await shows(item)) places.push(at)
  }
  return places
}
