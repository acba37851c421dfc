import { OperationError } from '../../errors/index.js'
import { isString } from '../../json/index.js'
import {
  comparePositions,
  compareSortKeys,
  cursorParts,
  positionOf,
  type IndexEntry,
  type Indexer,
  type SearchPage,
  type SearchQuery,
  type SortPosition,
  type Storage,
  type StoredResource,
} from '../../storage/index.js'

/** Source of the matches of several types. */
export interface SeveralScope {
  readonly storage: Pick<Storage, 'search'>
  /** Creates the entries that resources are sorted by. */
  readonly indexer: Indexer
  /** Returns the entries of a resource, with gaps for other work where that takes long; default: what `indexer` creates, in one go. */
  readonly entriesOf?: ((resource: StoredResource) => readonly IndexEntry[] | Promise<readonly IndexEntry[]>) | undefined
}

/** The requested page of the matches of several types. */
interface SeveralCut {
  /** Maximum number of resources in the page. */
  readonly limit: number
  /** As `SearchQuery.maxBytes`. Default: no limit. */
  readonly maxBytes?: number
  /** `next` of the previous page; absent for the first. */
  readonly after?: string | undefined
}

/**
 * Returns one page of the matches of several queries for different types with the same `sort`: in that order; equal matches, or all without `sort`,
 * by type in the order of the queries, then by id. As for pages of one type, writes between two pages do not affect other matches.
 *
 * @throws {OperationError} `search-invalid` when `after` is not a cursor; `search-unsupported` when the storage does not sort as it promises.
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
    // For a full page, only whether and where there are further matches matters.
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

/** A cursor has the type where the next page begins and, unless it begins with the first match of the type, the cursor of the storage. */
function queriesFrom(queries: readonly SearchQuery[], cursor: string): readonly SearchQuery[] {
  const [type, ...after] = cursor.split(' ')
  const start = queries.findIndex((query) => query.type === type)
  const [first, ...others] = queries.slice(Math.max(0, start))
  if (start < 0 || first === undefined)
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.', { expression: ['_cursor'] })
  return [after.length === 0 ? first : { ...first, after: after.join(' ') }, ...others]
}

/** Minimum number of resources of a type that are read at a time. */
const MIN_READ = 20

/**
 * Merges several queries by their sort keys: each is read in that order, and the first of all heads is taken next.
 * A cursor has the position at which its page ends and, for each query, where to continue reading, which may be a little before that.
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

/** Compares positions, as for `Array.sort`. */
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
  /** Cursor of the storage's page that has the match; absent for the first page. */
  readonly start: string | undefined
}

/** The remaining matches of one query. */
interface Reader {
  readonly type: string
  readonly matches: AsyncGenerator<Match, void, undefined>
  /** The next match; absent when there are no more. */
  head: Match | undefined
  /** `start` of the last match that was read. */
  start: string | undefined
}

interface OrderedScope extends SeveralScope {
  readonly order: Order
}

function readerOf(scope: OrderedScope, query: SearchQuery, start: string | undefined): Reader {
  return { type: query.type, matches: matchesInTurn(scope, query, start), head: undefined, start }
}

/** Advances to the next wanted match. */
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
  { storage, indexer, entriesOf = ({ resource }) => indexer(resource), order }: OrderedScope,
  query: SearchQuery,
  from: string | undefined,
): AsyncGenerator<Match, void, undefined> {
  const { sort = [] } = query
  const needsEntries = sort.some(({ field }) => field !== 'lastUpdated' && field !== 'id')
  let before: MatchPosition | undefined
  let start = from
  do {
    const { items, next } = await storage.search({ ...query, ...(start !== undefined && { after: start }) })
    for (const stored of items) {
      const entries = needsEntries ? await entriesOf(stored) : []
      const position = { type: query.type, ...positionOf({ stored, entries }, sort) }
      if (before !== undefined && order(before, position) >= 0) throw outOfOrder(query.type)
      before = position
      yield { stored, position, start }
    }
    start = next
  } while (start !== undefined)
}

/** Creates the error for a wrong order: continuing would skip matches that the next page considers already returned. */
function outOfOrder(type: string): OperationError {
  return new OperationError(
    'search-unsupported',
    `The storage sorts ${type} resources in an order of its own, so that they cannot be sorted with others.`,
  )
}

interface Cursor {
  /** The last match of the previous page. */
  readonly end?: MatchPosition
  /** Cursors of the storage to continue from, by type. */
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
    throw new OperationError('search-invalid', 'The cursor of the search is not valid.', { expression: ['_cursor'] })
  }
  return { end: { type, id, keys: keys.map((key) => key ?? undefined) }, starts: new Map(starts) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function isStart(value: unknown): value is readonly [type: string, start: string] {
  return Array.isArray(value) && value.length === 2 && value.every(isString)
}
