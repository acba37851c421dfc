import { OperationError } from '../../errors/index.js'
import { isString } from '../../json/index.js'
import {
  comparePositions,
  compareSortKeys,
  cursorParts,
  positionOf,
  type SearchPage,
  type SearchQuery,
  type SortPosition,
  type StoredResource,
} from '../../storage/index.js'
import type { SeveralCut, SeveralScope } from './several-page.js'

/** Resources of a type that are read at once, at least. */
const MIN_READ = 20

/**
 * One page of several queries in the order of their sort keys: each is read in that order, and of the first of each the first is taken.
 * A cursor has the place where its page ends and, for each query, where to read on from, which may be a little before that.
 */
export async function mergedPage(scope: SeveralScope, queries: readonly SearchQuery[], { limit, after }: SeveralCut): Promise<SearchPage> {
  const order = orderOf(queries)
  const { end, starts } = after === undefined ? BEGINNING : readCursor(after, queries)
  const size = Math.max(MIN_READ, Math.ceil(limit / queries.length))
  const readers = queries.map((query) => readerOf({ ...scope, order }, { ...query, limit: size }, starts.get(query.type)))
  await Promise.all(readers.map((reader) => advance(reader, (place) => end === undefined || order(place, end) > 0)))
  const items: StoredResource[] = []
  let last: Place | undefined
  for (let first = firstOf(readers, order); first?.head !== undefined; first = firstOf(readers, order)) {
    if (last !== undefined && items.length === limit) return { items, next: cursorAt(last, readers) }
    last = first.head.place
    items.push(first.head.stored)
    await advance(first)
  }
  return { items }
}

/** Where a match stands among all of them. */
interface Place extends SortPosition {
  readonly type: string
}

/** As for `sort`. */
type Order = (a: Place, b: Place) => number

function orderOf(queries: readonly SearchQuery[]): Order {
  const sort = queries[0]?.sort ?? []
  const ranks = new Map(queries.map(({ type }, rank) => [type, rank]))
  const rankOf = ({ type }: Place): number => ranks.get(type) ?? 0
  return (a, b) => compareSortKeys(a, b, sort) || rankOf(a) - rankOf(b) || comparePositions(a, b, [])
}

interface Match {
  readonly stored: StoredResource
  readonly place: Place
  /** Cursor of the storage's page that it came with; absent for the first. */
  readonly start: string | undefined
}

/** The matches of one query that were not taken yet. */
interface Reader {
  readonly type: string
  readonly matches: AsyncGenerator<Match, void, undefined>
  /** The first of them; absent when there are no more. */
  head: Match | undefined
  /** `start` of the last one that was looked at. */
  start: string | undefined
}

interface OrderedScope extends SeveralScope {
  readonly order: Order
}

function readerOf(scope: OrderedScope, query: SearchQuery, start: string | undefined): Reader {
  return { type: query.type, matches: matchesInTurn(scope, query, start), head: undefined, start }
}

/** Goes on to the next match that is wanted. */
async function advance(reader: Reader, isWanted: (place: Place) => boolean = () => true): Promise<void> {
  do {
    const { value } = await reader.matches.next()
    reader.head = value ?? undefined
    if (reader.head !== undefined) reader.start = reader.head.start
  } while (reader.head !== undefined && !isWanted(reader.head.place))
}

function firstOf(readers: readonly Reader[], order: Order): Reader | undefined {
  let first: Reader | undefined
  for (const reader of readers) {
    if (reader.head === undefined) continue
    if (first?.head === undefined || order(reader.head.place, first.head.place) < 0) first = reader
  }
  return first
}

async function* matchesInTurn(
  { storage, indexer, order }: OrderedScope,
  query: SearchQuery,
  from: string | undefined,
): AsyncGenerator<Match, void, undefined> {
  let before: Place | undefined
  let start = from
  do {
    const { items, next } = await storage.search({ ...query, ...(start !== undefined && { after: start }) })
    for (const stored of items) {
      const place = { type: query.type, ...positionOf({ stored, entries: indexer(stored.resource) }, query.sort ?? []) }
      if (before !== undefined && order(before, place) >= 0) throw outOfOrder(query.type)
      before = place
      yield { stored, place, start }
    }
    start = next
  } while (start !== undefined)
}

/** Going on would leave out what the next page takes for shown. */
function outOfOrder(type: string): OperationError {
  return new OperationError(
    'search-unsupported',
    `The storage sorts ${type} resources in an order of its own, so that they cannot be sorted with others.`,
  )
}

interface Cursor {
  /** The last match of the page before. */
  readonly end?: Place
  /** By type: the cursor of the storage to read from. */
  readonly starts: ReadonlyMap<string, string>
}

const BEGINNING: Cursor = { starts: new Map() }

function cursorAt({ type, id, keys }: Place, readers: readonly Reader[]): string {
  const starts = readers.flatMap((reader) => (reader.start === undefined ? [] : [[reader.type, reader.start]]))
  return JSON.stringify([type, id, keys.map((key) => key ?? null), starts])
}

function readCursor(cursor: string, queries: readonly SearchQuery[]): Cursor {
  const [type, id, keys, starts] = cursorParts(cursor)
  const isPlace = isString(type) && isString(id) && Array.isArray(keys) && keys.length === queries[0]?.sort?.length && keys.every(isKey)
  if (!isPlace || !Array.isArray(starts) || !starts.every(isStart)) {
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  }
  return { end: { type, id, keys: keys.map((key) => key ?? undefined) }, starts: new Map(starts) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function isStart(value: unknown): value is readonly [type: string, start: string] {
  return Array.isArray(value) && value.length === 2 && value.every(isString)
}
