import { OperationError } from '../errors/index.js'
import type { Condition, IndexEntry, Referring, ScanQuery, SearchQuery, SortKey } from './query.js'
import type { ScanItem, ScanPage, Storage, StoredResource } from './storage.js'

/** Position of a resource in a sort order: one value per sort key, and its id. */
export interface SortPosition {
  readonly keys: readonly (string | number | undefined)[]
  readonly id: string
}

/** A resource with its index entries. */
export interface IndexedResource {
  readonly stored: StoredResource
  readonly entries: readonly IndexEntry[]
}

/** Returns the position of a resource in a sort order. */
export function positionOf(indexed: IndexedResource, sort: readonly SortKey[]): SortPosition {
  return { keys: sort.map((key) => keyOf(indexed, key)), id: indexed.stored.id }
}

function keyOf({ stored, entries }: IndexedResource, { param, field, descending }: SortKey): string | number | undefined {
  if (field === 'id' || field === 'lastUpdated') return stored[field]
  return sortKeyAmong(
    entries.flatMap((entry) => (entry.param === param ? (entry[field] ?? []) : [])),
    descending,
  )
}

/** Returns the one of several values by which a resource is sorted: the smallest or, if descending, the largest; `undefined` if there is none. */
export function sortKeyAmong(values: readonly (string | number)[], descending: boolean): string | number | undefined {
  return values.reduce<string | number | undefined>((best, value) => {
    if (best === undefined) return value
    return compareKeys(value, best) > 0 === descending ? value : best
  }, undefined)
}

/** Compares two positions, as for `Array.sort`. Resources without a key come last in both directions; equal keys are ordered by id. */
export function comparePositions(a: SortPosition, b: SortPosition, sort: readonly SortKey[]): number {
  return compareSortKeys(a, b, sort) || compareIds(a.id, b.id)
}

/** As `comparePositions`, without ids. */
export function compareSortKeys(a: Pick<SortPosition, 'keys'>, b: Pick<SortPosition, 'keys'>, sort: readonly SortKey[]): number {
  for (let index = 0; index < sort.length; index++) {
    const left = a.keys[index]
    const right = b.keys[index]
    if (left === right) continue
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1
    const order = compareKeys(left, right)
    if (order !== 0) return sort[index]?.descending === true ? -order : order
  }
  return 0
}

/** Compares ids or type names, which are ASCII. */
function compareIds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareCodePoints(String(a), String(b))
}

/** JavaScript compares UTF-16 code units, which puts U+E000 to U+FFFF after the characters beyond U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  let index = 0
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return codePointRank(a, index) - codePointRank(b, index)
}

function codePointRank(text: string, index: number): number {
  if (index >= text.length) return -1
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The position of a version in a history. */
export interface HistoryPosition {
  /** Milliseconds since 1970. */
  readonly updated: number
  readonly type: string
  readonly id: string
  readonly version: number
}

/** Compares positions in a history, as for `Array.sort`: the latest first, then by type, by id, and the later version first. */
export function historyOrder(a: HistoryPosition, b: HistoryPosition): number {
  return b.updated - a.updated || compareIds(a.type, b.type) || compareIds(a.id, b.id) || b.version - a.version
}

/** Encodes a position in a history as an opaque cursor. */
export function historyCursor({ updated, type, id, version }: HistoryPosition): string {
  return JSON.stringify([updated, type, id, version])
}

/**
 * Decodes a cursor of `historyCursor`.
 *
 * @throws {OperationError} `search-invalid` when the text is not such a cursor.
 */
export function readHistoryCursor(cursor: string): HistoryPosition {
  const [updated, type, id, version] = cursorParts(cursor)
  if (
    Number.isSafeInteger(updated) &&
    typeof updated === 'number' &&
    typeof type === 'string' &&
    typeof id === 'string' &&
    isVersion(version)
  ) {
    return { updated, type, id, version }
  }
  throw new OperationError('search-invalid', 'The cursor of the history is not valid.', { expression: ['_cursor'] })
}

/** Parses a versionId as adapters store it: an integer from 1 to 2 ** 31 - 1. `undefined` for any other text. */
export function versionNumber(versionId: string): number | undefined {
  const number = Number(versionId)
  return isVersion(number) && String(number) === versionId ? number : undefined
}

function isVersion(version: unknown): version is number {
  return typeof version === 'number' && Number.isInteger(version) && version > 0 && version < 2 ** 31
}

/** Parses a cursor that is a JSON list. Returns an empty list for any other text, because a caller may send anything. */
export function cursorParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(cursor)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** A storage that is searched. */
type Searched = Pick<Storage, 'search'> & Partial<Pick<Storage, 'capabilities'>>

/**
 * Iterates over the matches of a query. Pages are read as the caller proceeds.
 *
 * @yields Every match once, in the order of the query.
 * @throws {OperationError} `storage-unavailable` when a storage that `repeats` finds a resource on two pages, because then others may be on none;
 *   `too-costly` when it finds more than 1,000,000.
 */
export async function* allMatches(storage: Searched, query: SearchQuery): AsyncGenerator<StoredResource, void, undefined> {
  const check = storage.capabilities?.repeats === true ? repetitionCheck() : undefined
  let next: string | undefined = query.after
  do {
    const page = await storage.search({ ...query, ...(next !== undefined && { after: next }) })
    check?.(page.items)
    yield* page.items
    next = page.next
  } while (next !== undefined)
}

/** Ids of one search that are compared, in about 70 MB. */
const MOST_COMPARED = 1_000_000

function repetitionCheck(): (items: readonly StoredResource[]) => void {
  const found = new Set<string>()
  return (items) => {
    for (const { id } of items) {
      if (found.has(id))
        throw new OperationError('storage-unavailable', 'The storage found a resource on two pages, so others may be missing.')
      if (found.size === MOST_COMPARED) throw new OperationError('too-costly', `The search finds more than ${MOST_COMPARED} resources.`)
      found.add(id)
    }
  }
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
  storage: Searched & Pick<Storage, 'scan'>,
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
  storage: Searched & Pick<Storage, 'scan'>,
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

async function* searched(storage: Searched, { referring = [], ...query }: ScanQuery): AsyncGenerator<ScanItem> {
  for await (const stored of allMatches(storage, query)) {
    const found = new Map<string, StoredResource>()
    for await (const match of searchedReferring(storage, referring, stored)) found.set(`${match.type}/${match.id}`, match)
    yield inOrder({ stored, referring: [...found.values()] })
  }
}

async function* searchedReferring(
  storage: Searched,
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
