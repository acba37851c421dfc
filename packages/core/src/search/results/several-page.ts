import { OperationError } from '../../errors/index.js'
import { isString } from '../../json/index.js'
import {
  comparePositions,
  compareSortKeys,
  cursorParts,
  positionOf,
  type Indexer,
  type SearchPage,
  type SearchQuery,
  type SortPosition,
  type Storage,
  type StoredResource,
} from '../../storage/index.js'

/** Where the matches of several types come from. */
export interface SeveralScope {
  readonly storage: Pick<Storage, 'search'>
  /** Tells what a resource is sorted by. */
  readonly indexer: Indexer
}

/** How much of the matches of several types is wanted. */
export interface SeveralCut {
  /** Most resources of the page. */
  readonly limit: number
  /** As of `SearchQuery`. Default: no bound. */
  readonly maxBytes?: number
  /** `next` of the page before; absent for the first. */
  readonly after?: string | undefined
}

/**
 * One page of the matches of several queries of different types with the same `sort`: in that order, among equals and without one type by
 * type in the order of the queries, and then by id. As for pages of one type, writes between two of them do not disturb the rest.
 *
 * @throws {OperationError} `search-invalid` when `after` is not a cursor; `search-unsupported` when the storage sorts otherwise than it promises.
 */
export async function severalPage(scope: SeveralScope, queries: readonly SearchQuery[], cut: SeveralCut): Promise<SearchPage> {
  return queries[0]?.sort === undefined ? typeByType(scope, queries, cut) : mergedPage(scope, queries, cut)
}

async function typeByType({ storage }: SeveralScope, all: readonly SearchQuery[], cut: SeveralCut): Promise<SearchPage> {
  const { limit, maxBytes = Infinity, after } = cut
  const items: StoredResource[] = []
  let room = maxBytes
  for (const query of after === undefined ? all : queriesFrom(all, after)) {
    const left = room < 0 ? 0 : limit - items.length
    const page = await storage.search({ ...query, limit: Math.max(1, left), ...boundOf(room) })
    // A full page has only to know whether, and where, something follows.
    if (left === 0 && page.items.length > 0) return { items, next: query.type }
    items.push(...page.items)
    room = page.items.reduce((rest, { text }) => rest - text.length, room)
    if (page.next !== undefined) return { items, next: `${query.type} ${page.next}` }
  }
  return { items }
}

function boundOf(room: number): Pick<SearchQuery, 'maxBytes'> {
  return room < Infinity ? { maxBytes: Math.max(0, room) } : {}
}

/** A cursor is the type where the next page begins, and where in that type unless at its beginning. */
function queriesFrom(queries: readonly SearchQuery[], cursor: string): readonly SearchQuery[] {
  const [type, ...after] = cursor.split(' ')
  const start = queries.findIndex((query) => query.type === type)
  const [first, ...others] = queries.slice(Math.max(0, start))
  if (start < 0 || first === undefined) throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return [after.length === 0 ? first : { ...first, after: after.join(' ') }, ...others]
}

/** Resources of a type that are read at once, at least. */
const MIN_READ = 20

/**
 * One page of several queries in the order of their sort keys: each is read in that order, and of the first of each the first is taken.
 * A cursor has the position at which its page ends and, for each query, where to read on from, which may be a little before that.
 */
async function mergedPage(scope: SeveralScope, queries: readonly SearchQuery[], cut: SeveralCut): Promise<SearchPage> {
  const { limit, maxBytes = Infinity, after } = cut
  const order = orderOf(queries)
  const { end, starts } = after === undefined ? BEGINNING : readCursor(after, queries)
  const size = Math.max(MIN_READ, Math.ceil(limit / queries.length))
  const readers = queries.map((query) =>
    readerOf({ ...scope, order }, { ...query, limit: size, ...boundOf(maxBytes / queries.length) }, starts.get(query.type)),
  )
  await Promise.all(readers.map((reader) => advance(reader, (position) => end === undefined || order(position, end) > 0)))
  const items: StoredResource[] = []
  let room = maxBytes
  let last: MatchPosition | undefined
  for (let first = firstOf(readers, order); first?.head !== undefined; first = firstOf(readers, order)) {
    if (last !== undefined && (items.length === limit || room < 0)) return { items, next: cursorAt(last, readers) }
    last = first.head.position
    items.push(first.head.stored)
    room -= first.head.stored.text.length
    await advance(first)
  }
  return { items }
}

/** The position of a match among all of them. */
interface MatchPosition extends SortPosition {
  readonly type: string
}

/** As for `sort`. */
type Order = (a: MatchPosition, b: MatchPosition) => number

function orderOf(queries: readonly SearchQuery[]): Order {
  const sort = queries[0]?.sort ?? []
  const ranks = new Map(queries.map(({ type }, rank) => [type, rank]))
  const rankOf = ({ type }: MatchPosition): number => ranks.get(type) ?? 0
  return (a, b) => compareSortKeys(a, b, sort) || rankOf(a) - rankOf(b) || comparePositions(a, b, [])
}

interface Match {
  readonly stored: StoredResource
  readonly position: MatchPosition
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

/** Advances to the next match that is wanted. */
async function advance(reader: Reader, isWanted: (position: MatchPosition) => boolean = () => true): Promise<void> {
  do {
    const { value } = await reader.matches.next()
    reader.head = value ?? undefined
    if (reader.head !== undefined) reader.start = reader.head.start
  } while (reader.head !== undefined && !isWanted(reader.head.position))
}

function firstOf(readers: readonly Reader[], order: Order): Reader | undefined {
  let first: Reader | undefined
  for (const reader of readers) {
    if (reader.head === undefined) continue
    if (first?.head === undefined || order(reader.head.position, first.head.position) < 0) first = reader
  }
  return first
}

async function* matchesInTurn(
  { storage, indexer, order }: OrderedScope,
  query: SearchQuery,
  from: string | undefined,
): AsyncGenerator<Match, void, undefined> {
  let before: MatchPosition | undefined
  let start = from
  do {
    const { items, next } = await storage.search({ ...query, ...(start !== undefined && { after: start }) })
    for (const stored of items) {
      const position = { type: query.type, ...positionOf({ stored, entries: indexer(stored.resource) }, query.sort ?? []) }
      if (before !== undefined && order(before, position) >= 0) throw outOfOrder(query.type)
      before = position
      yield { stored, position, start }
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
  readonly end?: MatchPosition
  /** By type: the cursor of the storage to read from. */
  readonly starts: ReadonlyMap<string, string>
}

const BEGINNING: Cursor = { starts: new Map() }

function cursorAt({ type, id, keys }: MatchPosition, readers: readonly Reader[]): string {
  const starts = readers.flatMap((reader) => (reader.start === undefined ? [] : [[reader.type, reader.start]]))
  return JSON.stringify([type, id, keys.map((key) => key ?? null), starts])
}

function readCursor(cursor: string, queries: readonly SearchQuery[]): Cursor {
  const [type, id, keys, starts] = cursorParts(cursor)
  const isPosition = isString(type) && isString(id) && Array.isArray(keys) && keys.length === queries[0]?.sort?.length && keys.every(isKey)
  if (!isPosition || !Array.isArray(starts) || !starts.every(isStart)) {
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
