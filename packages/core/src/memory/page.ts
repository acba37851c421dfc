import { OperationError } from '../errors/index.js'
import { countBits, firstWhere, hasBit, visitMembers, type Bits } from '../bits/index.js'
import { comparePositions, cursorParts, type SearchQuery, type SortKey, type SortPosition } from '../storage/index.js'
import type { Work } from '../work/index.js'
import { followed, matchingRows, type Tables } from './matches.js'
import type { ResourceTable, Row } from './resource-table.js'
import type { RowOrder } from './row-order.js'

const DEFAULT_PAGE = 100

/** One page of rows. */
interface RowPage<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; absent on the last. */
  readonly next?: string
}

/** The matches of a query. */
export interface Matches {
  readonly table: ResourceTable
  readonly rows: Bits
  /** The order in which they are found one after the other; absent where it is faster to look through all of them. */
  readonly order: RowOrder<SortPosition> | undefined
}

/**
 * Finds the matches of a query. What is missing of links and orders is built before that, in steps; the matches are those after the last step, when nothing
 * else can happen between finding them and using them. `undefined` when there are no resources of the type.
 */
export function* findMatches(tables: Tables, query: SearchQuery): Work<Matches | undefined> {
  for (;;) {
    yield* followed(tables, query)
    const table = tables.get(query.type)
    const rows = matchingRows(tables, query)
    if (table === undefined || rows === undefined) return undefined
    const matches = matchesIn(table, rows, query)
    if (matches.order?.isReady() !== false) return matches
    yield* matches.order.catchUp()
  }
}

/** Chooses how the page of a query is found among its matches. */
function matchesIn(table: ResourceTable, rows: Bits, { sort = [], limit = DEFAULT_PAGE }: Pick<SearchQuery, 'sort' | 'limit'>): Matches {
  const order = table.order(sort)
  const count = countBits(rows)
  const passed = table.size() * Math.min(1, limit / count)
  const isFaster = passed < count * LOOK && (order.isReady() || order.isWorth(count))
  return { table, rows, order: isFaster ? order : undefined }
}

/** Looking at a match takes about as long as passing this many rows in their order. */
const LOOK = 8

/** The page of rows that a query asks for. */
export function pageOf(matches: Matches, query: Omit<SearchQuery, 'where'>): RowPage<Row> {
  return pageMadeOf(matches, { ...query, itemOf: (row) => ({ item: row, bytes: row.length }) })
}

/** The item of a row on a page, and its size. */
export interface PageItem<T> {
  readonly item: T
  readonly bytes: number
}

interface PageQuery<T> extends Omit<SearchQuery, 'where'> {
  readonly itemOf: (row: Row, number: number) => PageItem<T>
}

/** Like `pageOf`, with an item made from each row; the sizes of the items count. */
export function pageMadeOf<T>(matches: Matches, { itemOf, ...query }: PageQuery<T>): RowPage<T> {
  const { table } = matches
  const { sort = [], limit = DEFAULT_PAGE, maxBytes = Infinity } = query
  const after = query.after === undefined ? undefined : readCursor(query.after, sort)
  const found = firstRows(matches, { after, limit, sort })
  const items: T[] = []
  let last: number | undefined
  let bytes = 0
  for (const number of found.slice(0, limit)) {
    const row = table.row(number)
    if (row === undefined) continue
    if (bytes > maxBytes) break
    const made = itemOf(row, number)
    items.push(made.item)
    bytes += made.bytes
    last = number
  }
  return { items, ...(last !== undefined && found.length > items.length && { next: cursorAt(table.positionOf(last, sort)) }) }
}

interface Cut {
  readonly after: SortPosition | undefined
  readonly limit: number
  readonly sort: readonly SortKey[]
}

/** The numbers of the rows of a page and of the first one after it. */
function firstRows({ table, rows, order }: Matches, cut: Cut): readonly number[] {
  return order === undefined ? firstOfFew(table, rows, cut) : firstInOrder(order, rows, cut)
}

function firstInOrder(order: RowOrder<SortPosition>, rows: Bits, { after, limit }: Cut): readonly number[] {
  const found: number[] = []
  for (const number of order.after(after)) {
    if (hasBit(rows, number)) found.push(number)
    if (found.length > limit) break
  }
  return found
}

/** Finds the first rows without sorting all: of thousands that match, a page shows twenty. */
function firstOfFew(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly number[] {
  const first: PlacedRow[] = []
  visitMembers(rows, (number) => {
    const position = table.positionOf(number, sort)
    if (after !== undefined && comparePositions(position, after, sort) <= 0) return
    const last = first[limit]
    if (last !== undefined && comparePositions(position, last.position, sort) >= 0) return
    const at = firstWhere(first.length, (index) => isBefore(position, first[index], sort))
    first.splice(at, 0, { number, position })
    if (first.length > limit + 1) first.pop()
  })
  return first.map(({ number }) => number)
}

interface PlacedRow {
  readonly number: number
  readonly position: SortPosition
}

function isBefore(position: SortPosition, other: PlacedRow | undefined, sort: readonly SortKey[]): boolean {
  return other !== undefined && comparePositions(position, other.position, sort) < 0
}

function cursorAt({ keys, id }: SortPosition): string {
  return JSON.stringify([id, ...keys.map((key) => key ?? null)])
}

function readCursor(cursor: string, sort: readonly SortKey[]): SortPosition {
  const parts = cursorParts(cursor)
  const [id, ...keys] = parts
  const fits = typeof id === 'string' && keys.length === sort.length && keys.every(isKey)
  if (!fits) throw new OperationError('search-invalid', 'The cursor of the search is not valid.', { expression: ['_cursor'] })
  return { id, keys: keys.filter(isKey).map((key) => key ?? undefined) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
