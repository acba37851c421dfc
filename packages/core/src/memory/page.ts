import { OperationError } from '../errors/index.js'
import { countBits, firstWhere, hasBit, visitMembers, type Bits } from '../bits/index.js'
import { comparePositions, cursorParts, positionOf, type SearchQuery, type SortKey, type SortPosition } from '../storage/index.js'
import type { ResourceTable, Row } from './resource-table.js'

const DEFAULT_PAGE = 100

/** One page of rows. */
export interface RowPage<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; absent on the last. */
  readonly next?: string
}

/** The page of rows that a query asks for. */
export function pageOf(table: ResourceTable, rows: Bits, query: Omit<SearchQuery, 'where'>): RowPage<Row> {
  return pageMadeOf(table, rows, { ...query, itemOf: (row) => ({ item: row, bytes: row.length }) })
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
export function pageMadeOf<T>(table: ResourceTable, rows: Bits, { itemOf, ...query }: PageQuery<T>): RowPage<T> {
  const { sort = [], limit = DEFAULT_PAGE, maxBytes = Infinity } = query
  const after = query.after === undefined ? undefined : readCursor(query.after, sort)
  const found = firstRows(table, rows, { after, limit, sort })
  const items: T[] = []
  let last: Row | undefined
  let bytes = 0
  for (const number of found.slice(0, limit)) {
    const row = table.row(number)
    if (row === undefined) continue
    if (bytes > maxBytes) break
    const made = itemOf(row, number)
    items.push(made.item)
    bytes += made.bytes
    last = row
  }
  return { items, ...(last !== undefined && found.length > items.length && { next: cursorAt(positionOf(last, sort)) }) }
}

interface Cut {
  readonly after: SortPosition | undefined
  readonly limit: number
  readonly sort: readonly SortKey[]
}

/** The numbers of the rows of a page and of the first one after it. */
function firstRows(table: ResourceTable, rows: Bits, cut: Cut): readonly number[] {
  return isLargePart(table, rows) ? firstInOrder(table, rows, cut) : firstOfFew(table, rows, cut)
}

/** If at least one in this many rows matches, the first matches are found soon by going through all rows in order. */
const LARGE_PART = 64

function isLargePart(table: ResourceTable, rows: Bits): boolean {
  return countBits(rows) * LARGE_PART >= table.size()
}

function firstInOrder(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly number[] {
  const found: number[] = []
  for (const number of table.after(sort, after)) {
    if (hasBit(rows, number)) found.push(number)
    if (found.length > limit) break
  }
  return found
}

/** Finds the first rows without sorting all: of thousands that match, a page shows twenty. */
function firstOfFew(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly number[] {
  const first: PlacedRow[] = []
  visitMembers(rows, (number) => {
    const row = table.row(number)
    if (row === undefined) return
    const position = positionOf(row, sort)
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
  if (!fits) throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return { id, keys: keys.filter(isKey).map((key) => key ?? undefined) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}
