import { OperationError } from '../errors/index.js'
import type { SearchPage, SearchQuery, SortKey } from '../storage/index.js'
import { hasBit, membersOf, type Bits } from './bits.js'
import { firstIndex } from './first-index.js'
import type { ResourceTable, Row } from './resource-table.js'

const DEFAULT_PAGE = 100

/** What a resource is ordered by: one value for each sort key, and its id. */
interface Position {
  readonly keys: readonly (string | number | undefined)[]
  readonly id: string
}

/** The page of the rows that the query asks for. */
export function pageOf(table: ResourceTable, rows: Bits, query: SearchQuery): SearchPage {
  const sort = query.sort ?? []
  const limit = query.limit ?? DEFAULT_PAGE
  const after = query.after === undefined ? undefined : readCursor(query.after, sort)
  const found = sort.length === 0 ? firstById(table, rows, { after, limit }) : firstBySort(table, rows, { after, limit, sort })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return {
    items: items.map((row) => row.stored),
    ...(last !== undefined && found.length > limit && { next: cursorAt(positionOf(last, sort)) }),
  }
}

interface Cut {
  readonly after: Position | undefined
  readonly limit: number
}

/** One row more than the limit, where there are so many. */
function firstById(table: ResourceTable, rows: Bits, { after, limit }: Cut): readonly Row[] {
  const found: Row[] = []
  for (const number of table.after(after?.id)) {
    const row = hasBit(rows, number) ? table.row(number) : undefined
    if (row !== undefined) found.push(row)
    if (found.length > limit) break
  }
  return found
}

/** As `firstById`, in the order of the sort keys. Only so many rows are kept in order as are asked for. */
function firstBySort(table: ResourceTable, rows: Bits, { after, limit, sort }: Cut & { readonly sort: readonly SortKey[] }): readonly Row[] {
  const found: { readonly row: Row; readonly position: Position }[] = []
  for (const number of membersOf(rows)) {
    const row = table.row(number)
    if (row === undefined) continue
    const position = positionOf(row, sort)
    if (after !== undefined && comparePositions(position, after, sort) <= 0) continue
    const last = found.length > limit ? found.at(-1) : undefined
    if (last !== undefined && comparePositions(position, last.position, sort) >= 0) continue
    found.splice(firstIndex(found.length, (index) => comparePositions(found[index]?.position ?? position, position, sort) > 0), 0, { row, position })
    if (found.length > limit + 1) found.pop()
  }
  return found.map(({ row }) => row)
}

function positionOf(row: Row, sort: readonly SortKey[]): Position {
  return { keys: sort.map((key) => keyOf(row, key)), id: row.stored.id }
}

function keyOf({ stored, entries }: Row, { param, field, descending }: SortKey): string | number | undefined {
  if (field === 'id' || field === 'lastUpdated') return stored[field]
  let best: string | number | undefined
  for (const entry of entries) {
    if (entry.param !== param) continue
    const value = entry[field]
    if (value === undefined) continue
    if (best === undefined || (descending ? compareKeys(value, best) > 0 : compareKeys(value, best) < 0)) best = value
  }
  return best
}

function comparePositions(a: Position, b: Position, sort: readonly SortKey[]): number {
  for (const [index, { descending }] of sort.entries()) {
    const left = a.keys[index]
    const right = b.keys[index]
    if (left === undefined || right === undefined) {
      if (left !== right) return left === undefined ? 1 : -1
      continue
    }
    const order = compareKeys(left, right)
    if (order !== 0) return descending ? -order : order
  }
  return compareKeys(a.id, b.id)
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

function cursorAt({ keys, id }: Position): string {
  return JSON.stringify([id, ...keys.map((key) => key ?? null)])
}

function readCursor(cursor: string, sort: readonly SortKey[]): Position {
  const parts = cursorParts(cursor)
  const [id, ...keys] = parts
  const fits = typeof id === 'string' && keys.length === sort.length && keys.every(isKey)
  if (!fits) throw new OperationError('search-invalid', 'The cursor of the search is not valid.')
  return { id, keys: keys.filter(isKey).map((key) => key ?? undefined) }
}

function isKey(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number'
}

function cursorParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(cursor)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
