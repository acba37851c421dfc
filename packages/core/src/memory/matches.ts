import {
  placesOf,
  satisfies,
  type Condition,
  type EntryTest,
  type SearchQuery,
  type PutEntry,
  comparePositions,
  cursorParts,
  type SortKey,
  type SortPosition,
} from '../storage/index.js'
import {
  addBit,
  addBits,
  countBits,
  difference,
  emptyBits,
  intersection,
  membersOf,
  type Bits,
  firstWhere,
  hasBit,
  visitMembers,
} from '../bits/index.js'
import type { Work } from '../work/index.js'
import type { Links } from './links.js'
import type { ResourceTable, Row } from './resource-table.js'
import { OperationError } from '../errors/index.js'
import type { RowOrder } from './row-order.js'

/** The resources of every type. */
type Tables = ReadonlyMap<string, ResourceTable>

/** The current rows that match a query; `undefined` when there is no such type. */
export function matchingRows(tables: Tables, query: Pick<SearchQuery, 'type' | 'where'>): Bits | undefined {
  const table = tables.get(query.type)
  return table && rowsWhere({ tables, table, type: query.type }, query.where)
}

interface Scope {
  readonly tables: Tables
  readonly table: ResourceTable
  readonly type: string
}

function rowsWhere(scope: Scope, condition: Condition): Bits {
  const live = scope.table.live()
  switch (condition.kind) {
    case 'entry':
      return intersection(live, entryRows(scope.table, condition))
    case 'and':
      return rowsOfAll(scope, condition.conditions)
    case 'or':
      return unionOf(
        live.length,
        condition.conditions.map((part) => rowsWhere(scope, part)),
      )
    case 'not':
      return difference(live, rowsWhere(scope, condition.condition))
    case 'id':
      return rowsOfIds(scope, condition.ids)
    case 'lastUpdated':
      return rowsUpdated(scope, condition)
    case 'refersTo':
      return rowsReferringTo(scope, condition)
    case 'referredBy':
      return rowsReferredBy(scope, condition.param, condition.query)
  }
}

/** If at most one row in this many is left, testing each of those is faster than collecting all that match. */
const SMALL_PART = 32

/** Exact lookups come first, because few rows often remain after them. */
function rowsOfAll(scope: Scope, conditions: readonly Condition[]): Bits {
  const inOrder = [...conditions.filter(isLookup), ...conditions.filter((condition) => !isLookup(condition))]
  return inOrder.reduce((rows, part) => {
    const areFew = countBits(rows) * SMALL_PART <= scope.table.size()
    return (areFew ? rowsAmong(scope, rows, part) : undefined) ?? intersection(rows, rowsWhere(scope, part))
  }, scope.table.live())
}

function isLookup(condition: Condition): boolean {
  return condition.kind === 'entry' && condition.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

/** The rows that meet a condition, tested one by one; `undefined` when that is not faster. */
function rowsAmong(scope: Scope, rows: Bits, condition: Condition): Bits | undefined {
  if (condition.kind === 'refersTo') return rowsReferringTo(scope, condition, rows)
  // Lists may be long, so their texts are looked up.
  if (condition.kind !== 'entry' || condition.all.some(({ op }) => op === 'in')) return undefined
  return scope.table.param(condition.param)?.rowsAmong(rows, condition.all) ?? new Uint32Array(rows.length)
}

function entryRows(table: ResourceTable, test: EntryTest): Bits {
  return table.param(test.param)?.rowsWith(test.all) ?? emptyBits(0)
}

function unionOf(words: number, sets: readonly Bits[]): Bits {
  const union = new Uint32Array(words)
  for (const set of sets) addBits(union, set)
  return union
}

function rowsOfIds({ table }: Scope, ids: readonly string[]): Bits {
  const rows = emptyBits(table.live().length * 32)
  for (const id of ids) {
    const row = table.find(id)
    if (row !== undefined) addBit(rows, row)
  }
  return rows
}

function rowsUpdated({ table }: Scope, { from = -Infinity, to = Infinity }: { readonly from?: number; readonly to?: number }): Bits {
  const rows = emptyBits(table.live().length * 32)
  for (const row of membersOf(table.live())) {
    const at = table.row(row)?.updated
    if (at !== undefined && at >= from && at <= to) addBit(rows, row)
  }
  return rows
}

/** @param among The rows to test, when they are few. */
function rowsReferringTo({ tables, table, type: from }: Scope, { param, query: { type, where } }: RefersTo, among?: Bits): Bits {
  const live = table.live()
  const found = new Uint32Array(live.length)
  for (const to of placesOf(type)) {
    const links = linksOf(tables, { from, param, to })
    const matches = links && matchingRows(tables, { type: to, where })
    if (matches === undefined) continue
    if (among === undefined) links?.addSources(matches, found)
    else links?.addSourcesAmong(among, matches, found)
  }
  return among === undefined ? intersection(live, found) : found
}

type RefersTo = Extract<Condition, { kind: 'refersTo' }>

function rowsReferredBy({ tables, table, type: to }: Scope, param: string, query: SearchQuery): Bits {
  const live = table.live()
  const found = new Uint32Array(live.length)
  const sources = matchingRows(tables, query)
  if (sources !== undefined) linksOf(tables, { from: query.type, param, to })?.addTargets(sources, found)
  return intersection(live, found)
}

interface Reference {
  /** The type that refers. */
  readonly from: string
  readonly param: string
  /** The type that is referred to. */
  readonly to: string
}

/** The links of a reference; `undefined` when there are no such resources. */
export function linksOf(tables: Tables, { from, param, to }: Reference): Links | undefined {
  const targets = tables.get(to)
  return targets && tables.get(from)?.param(param)?.links({ system: to, targets })
}

/** Finds the entries of an alternative, which takes long unless an index has them, and are kept. Returns true if it took long. */
function scanned(tables: Tables, type: string, where: EntryTest): boolean {
  const table = tables.get(type)
  if (table === undefined || isLookup(where)) return false
  entryRows(table, where)
  return true
}

/** Brings what a condition needs up to date, in steps, so that `matchingRows` does not have to: the links that it follows, and its alternatives. */
export function* followed(tables: Tables, { type, where }: Pick<SearchQuery, 'type' | 'where'>): Work<void> {
  switch (where.kind) {
    case 'and':
      for (const part of where.conditions) yield* followed(tables, { type, where: part })
      return
    case 'or':
      for (const part of where.conditions) {
        if (part.kind !== 'entry') yield* followed(tables, { type, where: part })
        else if (scanned(tables, type, part)) yield
      }
      return
    case 'not':
      return yield* followed(tables, { type, where: where.condition })
    case 'refersTo':
      for (const to of placesOf(where.query.type)) {
        yield* followed(tables, { type: to, where: where.query.where })
        yield* caughtUp(tables, { from: type, param: where.param, to })
      }
      return
    case 'referredBy':
      yield* followed(tables, where.query)
      yield* caughtUp(tables, { from: where.query.type, param: where.param, to: type })
      return
    case 'entry':
    case 'id':
    case 'lastUpdated':
  }
}

function caughtUp(tables: Tables, reference: Reference): Iterable<void> {
  return linksOf(tables, reference)?.catchUp() ?? []
}

/** A resource, stored or about to be, with its index entries. */
export interface FoundBy extends Pick<PutEntry, 'id' | 'entries'> {
  /** When it was or will be written, in milliseconds. */
  readonly updated: number
}

/**
 * Whether one resource meets a condition, as `memoryStorage` would find it, without a storage. Conditions on other resources (`refersTo`,
 * `referredBy`) are never met, because there are no others.
 */
export function meetsCondition(resource: FoundBy, condition: Condition): boolean {
  switch (condition.kind) {
    case 'entry':
      return resource.entries.some((entry) => entry.param === condition.param && satisfies(entry, condition.all))
    case 'and':
      return condition.conditions.every((each) => meetsCondition(resource, each))
    case 'or':
      return condition.conditions.some((each) => meetsCondition(resource, each))
    case 'not':
      return !meetsCondition(resource, condition.condition)
    case 'id':
      return condition.ids.includes(resource.id)
    case 'lastUpdated':
      return resource.updated >= (condition.from ?? -Infinity) && resource.updated <= (condition.to ?? Infinity)
    default:
      return false
  }
}

const DEFAULT_PAGE = 100

/** One page of rows. */
interface RowPage<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; absent on the last. */
  readonly next?: string
}

/** The matches of a query. */
interface Matches {
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
