import { OperationError } from '../errors/index.js'
import { countBits, hasBit, membersOf, type Bits } from '../bits/index.js'
import {
  comparePositions,
  cursorParts,
  positionOf,
  scanItemTooLong,
  SCAN_ITEM_BYTES,
  SCAN_PAGE_BYTES,
  storedResource,
  type Referring,
  type ScanItem,
  type ScanPage,
  type ScanQuery,
  type SearchQuery,
  type SortKey,
  type SortPosition,
  type StoredResource,
} from '../storage/index.js'
import { matchingRows, type Tables } from './matches.js'
import type { ResourceTable, Row } from './resource-table.js'

const DEFAULT_PAGE = 100

/** One page of rows. */
export interface RowPage<T> {
  readonly items: readonly T[]
  /** Where the next one begins; absent on the last. */
  readonly next?: string
}

/** The page of the rows that the query asks for. */
export function pageOf(table: ResourceTable, rows: Bits, query: Omit<SearchQuery, 'where'>): RowPage<Row> {
  return pageMadeOf(table, rows, { ...query, itemOf: (row) => ({ row, item: row, bytes: row.length }) })
}

/** What a page shows of a row. */
interface PageItem<T> {
  readonly row: Row
  readonly item: T
  readonly bytes: number
}

interface PageQuery<T> extends Omit<SearchQuery, 'where'> {
  readonly itemOf: (row: Row) => PageItem<T>
}

/** The same, with what is made of each row, the size of which counts. */
function pageMadeOf<T>(table: ResourceTable, rows: Bits, { itemOf, ...query }: PageQuery<T>): RowPage<T> {
  const { sort = [], limit = DEFAULT_PAGE, maxBytes = Infinity } = query
  const after = query.after === undefined ? undefined : readCursor(query.after, sort)
  const found = firstRows(table, rows, { after, limit, sort })
  const items: T[] = []
  let last: Row | undefined
  let bytes = 0
  for (const row of found.slice(0, limit)) {
    if (bytes > maxBytes) break
    const made = itemOf(row)
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

/** One row more than the limit, where there are so many. */
function firstRows(table: ResourceTable, rows: Bits, cut: Cut): readonly Row[] {
  return isLargePart(table, rows) ? firstInOrder(table, rows, cut) : firstOfFew(table, rows, cut)
}

/** Of how many rows one must match, so that the first matches come soon when all rows are gone through in order. */
const LARGE_PART = 64

function isLargePart(table: ResourceTable, rows: Bits): boolean {
  return countBits(rows) * LARGE_PART >= table.size()
}

function firstInOrder(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly Row[] {
  const found: Row[] = []
  for (const number of table.after(sort, after)) {
    const row = hasBit(rows, number) ? table.row(number) : undefined
    if (row !== undefined) found.push(row)
    if (found.length > limit) break
  }
  return found
}

function firstOfFew(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut): readonly Row[] {
  const all = Array.from(membersOf(rows), (number) => table.row(number)).filter((row) => row !== undefined)
  const placed = all.map((row) => ({ row, position: positionOf(row, sort) }))
  const behind = after === undefined ? placed : placed.filter(({ position }) => comparePositions(position, after, sort) > 0)
  behind.sort((a, b) => comparePositions(a.position, b.position, sort))
  return behind.slice(0, limit + 1).map(({ row }) => row)
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

/** One page of a scan, in the order of ids. */
export function scanPage(tables: Tables, query: ScanQuery): ScanPage {
  const table = tables.get(query.type)
  const rows = matchingRows(tables, query)
  if (table === undefined || rows === undefined) return { items: [] }
  const sources = (query.referring ?? []).flatMap((referring) => sourceOf(tables, query, referring) ?? [])
  const { type, limit = SCAN_PAGE, after, maxBytes = SCAN_PAGE_BYTES } = query
  return pageMadeOf(table, rows, {
    type,
    limit,
    maxBytes,
    ...(after !== undefined && { after }),
    itemOf: (row) => itemOf(row, table.find(row.stored.id) ?? -1, sources),
  })
}

/** A page ends by its bytes: what refers to all subjects is looked up for each page. */
const SCAN_PAGE = 10_000

/** What refers to each row of a scan. */
interface Source {
  readonly table: ResourceTable
  /** Rows that may come, by the row that they refer to. */
  readonly rowsOf: ReadonlyMap<number, readonly number[]>
}

function sourceOf(tables: Tables, target: Pick<ScanQuery, 'type'>, { params, ...query }: Referring): Source | undefined {
  const [table, targets] = [tables.get(query.type), tables.get(target.type)]
  const rows = matchingRows(tables, query)
  if (table === undefined || targets === undefined || rows === undefined) return undefined
  const rowsOf = new Map<number, number[]>()
  for (const param of params)
    table
      .param(param)
      ?.links({ system: target.type, targets })
      .visit(rows, (source, to) => {
        const known = rowsOf.get(to)
        if (known === undefined) rowsOf.set(to, [source])
        else known.push(source)
      })
  return { table, rowsOf }
}

function itemOf(
  row: Row,
  number: number,
  sources: readonly Source[],
): { readonly row: Row; readonly item: ScanItem; readonly bytes: number } {
  const referring = new Set<Row>()
  let bytes = row.length
  for (const { table, rowsOf } of sources) {
    for (const found of rowsOf.get(number)?.flatMap((one) => table.row(one) ?? []) ?? []) {
      if (referring.has(found)) continue
      referring.add(found)
      bytes += found.length
      if (bytes > SCAN_ITEM_BYTES) throw scanItemTooLong(row.stored)
    }
  }
  return { row, item: { stored: fresh(row), referring: Array.from(referring, fresh) }, bytes }
}

/** What is parsed of it is not kept with the row: a scan would leave all of a population behind. */
function fresh({ stored }: Row): StoredResource {
  const { type, id, versionId, lastUpdated } = stored
  return storedResource({ type, id, versionId, lastUpdated, text: '' }, () => stored.text)
}
