import { OperationError } from '../errors/index.js'
import type { Condition, Referring, ScanQuery, SearchQuery } from './query.js'
import { compareIds } from './positions.js'
import type { ScanItem, ScanPage, Storage, StoredResource } from './storage.js'

/**
 * Iterates over the matches of a query. Pages are read as the caller proceeds.
 *
 * @yields Every match in the order of the query.
 */
export async function* allMatches(storage: Pick<Storage, 'search'>, query: SearchQuery): AsyncGenerator<StoredResource, void, undefined> {
  let next: string | undefined = query.after
  do {
    const page = await storage.search({ ...query, ...(next !== undefined && { after: next }) })
    yield* page.items
    next = page.next
  } while (next !== undefined)
}

/** Bytes of text after which a page of a scan ends, unless the query sets a limit. */
export const SCAN_PAGE_BYTES: number = 8 * 1024 * 1024

/** Maximum size in bytes of a scan item: a resource with all resources that are read with it. */
export const SCAN_ITEM_BYTES: number = 64 * 1024 * 1024

/** Creates the error that adapters throw for an item longer than `SCAN_ITEM_BYTES`. */
export function scanItemTooLong({ type, id }: Pick<StoredResource, 'type' | 'id'>): OperationError {
  return new OperationError('too-costly', `What refers to ${type}/${id} is longer than ${SCAN_ITEM_BYTES} bytes; a scan takes less.`)
}

/**
 * Iterates over a whole population, and reads one page ahead of the caller. Uses `Storage.scan` where the storage has it, otherwise searches for each
 * resource.
 *
 * @yields Every match of the query once, with the resources that refer to it in order of type and id. Items belong to the caller and are not kept.
 * @throws {OperationError} `too-costly` when the resources that refer to one match are longer than 64 MB.
 */
export async function* scanResources(
  storage: Pick<Storage, 'search' | 'scan'>,
  query: ScanQuery,
): AsyncGenerator<ScanItem, void, undefined> {
  for await (const page of scanPages(storage, query)) yield* page
}

/**
 * As `scanResources`, in pages, so that the caller need not await each item.
 *
 * @yields The matches of a page, as `scanResources`.
 * @throws {OperationError} as `scanResources`.
 */
export async function* scanPages(
  storage: Pick<Storage, 'search' | 'scan'>,
  query: ScanQuery,
): AsyncGenerator<readonly ScanItem[], void, undefined> {
  if (storage.scan === undefined) {
    for await (const item of searched(storage, query)) yield [item]
    return
  }
  const scan = storage.scan.bind(storage)
  let reading = scan(query)
  for (;;) {
    const page: ScanPage = await reading
    if (page.next === undefined) return yield page.items.map(inOrder)
    reading = scan({ ...query, after: page.next, ...nextLimit(query, page.items.length) })
    // A caller that stops early does not wait for it.
    reading.catch(() => undefined)
    yield page.items.map(inOrder)
  }
}

/** Number of matches after which a page of a scan ends, unless the query sets a limit. */
const SCAN_PAGE_ITEMS = 500

/** A page may end by its bytes; an adapter that reads before it knows what fits does not read many more matches for the next page than fitted into this one. */
function nextLimit({ limit = SCAN_PAGE_ITEMS }: ScanQuery, items: number): Pick<ScanQuery, 'limit'> {
  const likely = items + (items >> 1) + 1
  return likely < limit ? { limit: likely } : {}
}

/** Adapters return referring resources in different orders; results, such as a list of values in a report, must not depend on the adapter. */
function inOrder({ stored, referring }: ScanItem): ScanItem {
  return { stored, referring: referring.toSorted(byAddress) }
}

function byAddress(one: StoredResource, other: StoredResource): number {
  return compareIds(one.type, other.type) || compareIds(one.id, other.id)
}

async function* searched(storage: Pick<Storage, 'search'>, { referring = [], ...query }: ScanQuery): AsyncGenerator<ScanItem> {
  for await (const stored of allMatches(storage, query)) {
    const found = new Map<string, StoredResource>()
    for await (const match of searchedReferring(storage, referring, stored)) found.set(`${match.type}/${match.id}`, match)
    yield inOrder({ stored, referring: [...found.values()] })
  }
}

async function* searchedReferring(
  storage: Pick<Storage, 'search'>,
  referring: readonly Referring[],
  to: StoredResource,
): AsyncGenerator<StoredResource, void, undefined> {
  let bytes = 0
  for (const search of referring.flatMap((one) => searchesFor(one, to))) {
    for await (const match of allMatches(storage, search)) {
      bytes += match.text.length
      if (bytes > SCAN_ITEM_BYTES) throw scanItemTooLong(to)
      yield match
    }
  }
}

/** Creates one search per parameter, because all parameters of a single FHIR search must hold. */
function searchesFor({ type, where, parameters, params }: Referring, to: StoredResource): readonly SearchQuery[] {
  return params.map((param) => ({
    type,
    where: { kind: 'and', conditions: [refersToOne(param, to), where] },
    ...(parameters !== undefined && { parameters: [...parameters, [param, `${to.type}/${to.id}`]] }),
  }))
}

/** Holds for resources that refer to the given one by the parameter. */
function refersToOne(param: string, { type, id }: Pick<StoredResource, 'type' | 'id'>): Condition {
  return {
    kind: 'entry',
    param,
    all: [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ],
  }
}
