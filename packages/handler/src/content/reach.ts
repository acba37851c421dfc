import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace, type Pace } from 'fhir-ops/internal/context'
import { objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { chainedTypes, searchTypesOf } from 'fhir-ops/internal/search'
import { containerOfPlace, findingAs, resourceTypes, type ResourceVersion } from 'fhir-ops/internal/storage'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import {
  allMatches,
  isResourceId,
  isResourceType,
  wrappedStorage,
  type Condition,
  type ResourceHistory,
  type SearchQuery,
  type Storage,
  type StoredResource,
} from 'fhir-ops/storage'
import { authorize, notFound, type Caller } from '../auth/caller.js'
import type { Exchange } from '../exchange.js'

/** The caller, and the storage as the caller sees it, which is used for lookups. */
type Asking = Pick<Exchange, 'ctx' | 'caller'>

/**
 * Decides whether a caller reaches a resource: a caller with a project reaches only the bots of that project; a caller who may not read the resource
 * to which a Binary belongs does not reach the Binary; all other resources are within reach.
 */
export function isReached(asking: Asking, stored: { readonly type: string; readonly resource: JsonObject }): Awaitable<boolean> {
  const { type } = stored
  // The resource is parsed on access, so it is not accessed for most types.
  if (type === 'Binary') return isContextRead(asking, stored.resource)
  const project = asking.caller.principal?.project
  return type !== 'Bot' || project === undefined || stringAt(stored.resource, 'project') === project
}

/**
 * If a caller may read only part of a type's resources, the security context must be one of them. A context that cannot be resolved, such as an
 * identifier, may stand for any resource.
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
 * Checks the right to a search. Its matches are checked one by one, but not the resources by which a chain finds them.
 *
 * @throws {OperationError} `forbidden` unless the caller may search every type involved, and look through those in chains.
 */
export function authorizeQuery(caller: Caller, query: Pick<SearchQuery, 'type' | 'where'>): void {
  for (const type of searchTypesOf(query)) authorize(caller, { action: 'search', type })
  for (const type of chainedTypes(query.where)) checkLookedThrough(caller, type)
}

/**
 * Checked before an engine searches through all resources of a type, because engines also see Binaries that belong to resources the caller may not read, and the
 * bots of all projects.
 *
 * @throws {OperationError} `forbidden`
 */
export function checkLookedThrough(caller: Caller, type: string): void {
  if (type === 'Binary' && !readsEverything(caller))
    throw new OperationError(
      'forbidden',
      'The access token does not allow looking through Binaries: they may belong to what it does not allow to read.',
    )
  if (type === 'Bot' && caller.principal?.project !== undefined)
    throw new OperationError('forbidden', 'The access token does not allow looking through the bots of other projects.')
}

/** Returns the address in a reference, on any server and with any version; `undefined` if it has none. */
export function addressIn(reference: string): { readonly type: string; readonly id: string } | undefined {
  const [path = ''] = reference.split('#')
  const [current = ''] = path.split('/_history/')
  const [type = '', id = ''] = current.split('/').slice(-2)
  return isResourceType(type) && isResourceId(id) ? { type, id } : undefined
}

/** As `isReached`, for a version. A deletion has no project. */
export function isVersionReached(asking: Asking, { type, stored }: Pick<ResourceVersion, 'type' | 'stored'>): Awaitable<boolean> {
  return isReached(asking, stored ?? { type, resource: {} })
}

/** @throws {OperationError} `not-found`: a resource out of the caller's reach looks as if it did not exist, and cannot be replaced. */
export function checkReach(asking: Asking, type: string, id: string): Awaitable<void> {
  return after(isInReach(asking, type, id), (reached) => {
    if (!reached) throw notFound(type, id)
  })
}

/** False for an existing resource out of the caller's reach. */
export function isInReach(asking: Asking, type: string, id: string): Awaitable<boolean> {
  if (type !== 'Bot' && type !== 'Binary') return true
  return after(asking.ctx.storage.read(type, id), (stored) => stored === undefined || isReached(asking, stored))
}

/** Narrows a query on bots to the caller's project, if there is one. */
export function inReach(query: SearchQuery, { principal }: Caller): SearchQuery {
  if (query.type !== 'Bot' || principal?.project === undefined) return query
  const own: Condition = { kind: 'entry', param: 'project', all: [{ field: 'value', op: 'eq', operand: principal.project }] }
  return narrowed(query, own)
}

/** Adds a condition to a query. `parameters` is dropped, because it describes the query without the condition. */
export function narrowed({ parameters: _ofAll, ...query }: SearchQuery, condition: Condition): SearchQuery {
  return { ...query, where: { kind: 'and', conditions: [query.where, condition] } }
}

/** False if a rule of the host hides the resource from this caller; a contained resource is hidden with its container. */
export async function isShown(asking: Asking, stored: StoredResource): Promise<boolean> {
  const { caller } = asking
  const { type, id } = containerOfPlace(stored.id) ?? stored
  if (stored.type === 'Binary' && !(await isReached(asking, stored))) return false
  return !caller.hides || caller.decide('search', type, id) === 'allow'
}

/** Returns `isShown` if a rule of the host may hide anything from this caller, or if there may be Binaries. */
export function showsTo(asking: Asking, type?: string): ((resource: StoredResource) => Promise<boolean>) | undefined {
  return asking.caller.hides || type === undefined || type === 'Binary' ? (resource) => isShown(asking, resource) : undefined
}

/** FHIR's resource types, for requests on all types; bots are separate. */
export function fhirTypes(): readonly string[] {
  return resourceTypes().filter((type) => type !== 'Bot')
}

interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** The part of the items that is read. */
export interface Part {
  readonly limit: number
  /** As in `SearchQuery`. */
  readonly maxBytes?: number
  readonly after?: string
}

/** The source of pages, and the items that are shown. */
interface ShownPages<T> {
  readonly ctx: Pick<OperationContext, 'signal' | 'deadline' | 'scheduler' | 'threadUse' | 'limits'>
  readonly pageOf: (part: Part) => Promise<Page<T>>
  /** Absent if all items are shown. */
  readonly shows: Shows<T> | undefined
  /** Returns the length of an item. */
  readonly lengthOf: (item: T) => number
}

type Shows<T> = (item: T) => boolean | Promise<boolean>

/** Maximum number of items read at a time. */
const MAX_PART = 1_000

/** Fraction of the answer limit that a page may fill; a page ends early to stay below it. The rest leaves room for included resources. */
const PART_OF_ANSWER = 1 / 4

/** Returns `maxBytes` for a page of matches. */
export function pageBytes({ limits }: Pick<OperationContext, 'limits'>): number {
  return Math.floor(limits.maxAnswerBytes * PART_OF_ANSWER)
}

/**
 * Returns a page as if hidden items did not exist: full if there are enough shown items, with a next page if there are more. A cursor names the item
 * after which it continues, so it is always that of a shown item.
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

/** Returns the positions of shown items, in steps: a check takes a fraction of a millisecond, and all items may be checked before one is shown. */
async function placesOf<T>(items: readonly T[], shows: Shows<T>, pace: Pace): Promise<readonly number[]> {
  const places: number[] = []
  for (const [at, item] of items.entries()) {
    await pace.step()
    if (await shows(item)) places.push(at)
  }
  return places
}

/** The address of a resource. */
interface Address {
  readonly type: string
  readonly id: string
}

/**
 * Returns the request of an operation as its caller may see it: its storage lacks resources that a rule of the host hides, and the resource on which the
 * operation is called, if the caller must not know of it. The operation then answers as if neither existed.
 */
export function withoutHidden(exchange: Exchange): Awaitable<Exchange> {
  const { caller, ctx, params } = exchange
  const [type, id] = [params.get('type'), params.get('id')]
  // An operation whose answers are cached reads definitions only.
  const reached = exchange.route?.isCacheable === true ? exchange : { ...exchange, ctx: { ...ctx, storage: reachedStorage(exchange) } }
  const shown = caller.hides
    ? { ...reached, ctx: { ...reached.ctx, storage: shownStorage(reached.ctx, caller), isPartial: true } }
    : reached
  if (type === undefined || id === undefined) return shown
  return after(isSeen(exchange, { type, id }), (seen) => (seen ? shown : { ...shown, ctx: withoutResource(shown.ctx, { type, id }) }))
}

function isSeen(exchange: Exchange, { type, id }: Address): Awaitable<boolean> {
  const { caller, ctx } = exchange
  if (caller.hides && caller.decide('read', type, id) === 'hide') return false
  return isInReach({ ctx, caller }, type, id)
}

/** Returns the context as if a resource did not exist. */
export function withoutResource(ctx: OperationContext, hidden: Address): OperationContext {
  const isHidden = (type: string, id: string | undefined): boolean => type === hidden.type && id === hidden.id
  return {
    ...ctx,
    storage: storageWithout(ctx.storage, isHidden),
    authorize: (action, type, id) => {
      if (action !== 'read' || !isHidden(type, id)) ctx.authorize?.(action, type, id)
    },
  }
}

function storageWithout(storage: Storage, isHidden: (type: string, id: string) => boolean): Storage {
  const { history } = storage
  return reading(
    storage,
    async (type, id) => (isHidden(type, id) ? undefined : storage.read(type, id)),
    history && shownHistory(history, (type, id) => !isHidden(type, id)),
  )
}

/** The storage of a request without Binaries and bots out of reach: an operation may read whatever its input refers to. Searches for them are refused. */
function reachedStorage({ ctx, caller }: Exchange): Storage {
  const { storage } = ctx
  return reading(storage, async (type, id) => {
    const stored = await storage.read(type, id)
    return stored !== undefined && (await isReached({ ctx, caller }, stored)) ? stored : undefined
  })
}

/** Returns the storage with another way to read, and another history. What Measures keep of its searches is that of the storage. */
function reading(storage: Storage, read: Storage['read'], history: Storage['history'] = storage.history): Storage {
  const same = wrappedStorage({
    capabilities: storage.capabilities,
    history,
    revision: storage.revision,
    changes: storage.changes,
    scan: storage.scan,
    read,
    search: (query) => storage.search(query),
    count: (query) => storage.count(query),
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
  return findingAs(same, storage)
}

/** Number of matches checked together. */
const PAGE = 1_000

/**
 * The storage without resources that a rule of the host hides from the caller: these are not read, found or counted. The rule decides about one
 * resource at a time, so counting reads all matches. Chains still follow references to hidden resources.
 */
function shownStorage(ctx: OperationContext, caller: Caller): Storage {
  const { storage } = ctx
  const isRead = (type: string, id: string): boolean => caller.decide('read', type, id) !== 'hide'
  const isFound = (stored: { readonly type: string; readonly id: string }): boolean => {
    const { type, id } = containerOfPlace(stored.id) ?? stored
    return caller.decide('search', type, id) === 'allow'
  }
  return wrappedStorage({
    capabilities: storage.capabilities,
    history: storage.history && shownHistory(storage.history, isRead),
    // What is cached by revision would also be used for other callers.
    revision: undefined,
    changes: undefined,
    scan: undefined,
    read: async (type, id) => (isRead(type, id) ? storage.read(type, id) : undefined),
    async search(query) {
      const { limit } = query
      if (limit !== undefined) {
        const pages = { ctx, pageOf: async (part: Part) => storage.search({ ...query, ...part }), shows: isFound }
        return shownPage({ ...pages, lengthOf: ({ text }) => text.length }, { ...query, limit })
      }
      const page = await storage.search(query)
      return { ...page, items: page.items.filter(isFound) }
    },
    async count(query) {
      const pace = createPace(ctx)
      let count = 0
      for await (const match of allMatches(storage, { ...query, limit: PAGE, maxBytes: pageBytes(ctx) })) {
        await pace.step()
        if (isFound(match)) count++
      }
      return count
    },
    write: (entries) => storage.write(entries),
    close: () => storage.close(),
  })
}

/** The history without versions of resources that `isRead` refuses. */
function shownHistory(history: ResourceHistory, isRead: (type: string, id: string) => boolean): ResourceHistory {
  return {
    version: async (type, id, versionId) => (isRead(type, id) ? history.version(type, id, versionId) : undefined),
    async page(query) {
      const page = await history.page(query)
      return { ...page, items: page.items.filter(({ type, id }) => isRead(type, id)) }
    },
  }
}
