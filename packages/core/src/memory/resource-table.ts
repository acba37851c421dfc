import {
  comparePositions,
  sortKeyAmong,
  createFrequency,
  testKey,
  type IndexEntry,
  type SortKey,
  type SortPosition,
  type StoredResource,
  type Comparison,
} from '../storage/index.js'
import {
  addBit,
  emptyBits,
  removeBit,
  withRoomFor,
  intersection,
  countBits,
  createNumbers,
  visitMembers,
  type Bits,
  type Numbers,
} from '../bits/index.js'
import { createRowOrder, type RowOrder } from './row-order.js'
import { createEntryColumns, type Fields, type EntryColumns } from './entry-columns.js'
import { createLinks, type Linked, type Links } from './links.js'

/** A version of a resource that is or was current. */
export interface Row {
  readonly stored: StoredResource
  /** Length of the text as it was written. */
  readonly length: number
  /** `lastUpdated` in milliseconds since 1970. */
  readonly updated: number
}

/** The resources of one type. Every put adds a row; sets of resources are sets of row numbers. */
export interface ResourceTable {
  put(row: Row, entries: readonly IndexEntry[]): void
  delete(id: string): void
  find(id: string): number | undefined
  row(number: number): Row | undefined
  param(code: string): ParamIndex | undefined
  /** The current rows. Must not be changed. */
  live(): Bits
  /** Number of rows, current or not. */
  size(): number
  /** Increases by one whenever rows get other numbers. */
  generation(): number
  /** The position of a row in the order of the sort keys. */
  positionOf(number: number, sort: readonly SortKey[]): SortPosition
  /** The rows in the order of the sort keys; those that are no longer current may be among them. */
  order(sort: readonly SortKey[]): RowOrder<SortPosition>
}

/** Rows that are no longer current are dropped when there are more of them than current ones, and more than this. */
const MIN_DEAD_ROWS = 1_000

/** Creates an empty table. */
export function createResourceTable(): ResourceTable {
  let state = emptyState()
  let generation = 0
  const compactIfDue = (): void => {
    const dead = state.rows.length - state.current.size
    if (dead <= MIN_DEAD_ROWS || dead <= state.current.size) return
    state = compacted(state)
    generation++
  }
  return {
    put(row, entries) {
      dropRow(state, row.stored.id)
      for (const entry of entries) indexOf(state, entry.param).add(state.rows.length, entry)
      addRow(state, row)
      compactIfDue()
    },
    delete(id) {
      dropRow(state, id)
      compactIfDue()
    },
    find: (id) => state.current.get(id),
    row: (number) => state.rows[number],
    param: (code) => state.params.get(code),
    live: () => state.live,
    size: () => state.rows.length,
    generation: () => generation,
    positionOf: (number, sort) => positionOf(state, number, sort),
    order: (sort) => orderBy(state, sort),
  }
}

interface TableState {
  readonly rows: Row[]
  /** Row number by id. */
  readonly current: Map<string, number>
  readonly params: Map<string, ParamIndex>
  /** Created on demand, by their sort keys as JSON; the most recently used is the last. */
  readonly orders: Map<string, RowOrder<SortPosition>>
  live: Bits
}

function emptyState(): TableState {
  return { rows: [], current: new Map(), params: new Map(), orders: new Map(), live: emptyBits(1_024) }
}

/** Maximum number of orders that are kept up to date with the rows; the least recently used is dropped. */
const MAX_ORDERS = 16

function orderBy(state: TableState, sort: readonly SortKey[]): RowOrder<SortPosition> {
  const { rows, orders } = state
  const key = JSON.stringify(sort)
  const order =
    orders.get(key) ??
    createRowOrder<SortPosition>({
      placeOf: (number) => positionOf(state, number, sort),
      compare: (a, b) => comparePositions(a, b, sort),
      size: () => rows.length,
    })
  orders.delete(key)
  orders.set(key, order)
  if (orders.size > MAX_ORDERS) orders.delete(orders.keys().next().value ?? '')
  return order
}

function positionOf({ rows, params }: TableState, number: number, sort: readonly SortKey[]): SortPosition {
  const stored = rows[number]?.stored
  if (stored === undefined) return { keys: [], id: '' }
  const keys = sort.map(({ param, field, descending }) =>
    field === 'id' || field === 'lastUpdated' ? stored[field] : sortKeyAmong(params.get(param)?.valuesOf(number, field) ?? [], descending),
  )
  return { keys, id: stored.id }
}

function addRow(state: TableState, row: Row): void {
  const number = state.rows.push(row) - 1
  state.current.set(row.stored.id, number)
  state.live = withRoomFor(state.live, number)
  addBit(state.live, number)
}

function indexOf({ params }: TableState, param: string): ParamIndex {
  const index = params.get(param) ?? createParamIndex()
  params.set(param, index)
  return index
}

function dropRow(state: TableState, id: string): void {
  const number = state.current.get(id)
  if (number === undefined) return
  removeBit(state.live, number)
  state.current.delete(id)
}

function compacted(state: TableState): TableState {
  const fresh = emptyState()
  const numbers = new Uint32Array(state.rows.length)
  for (const number of state.current.values()) {
    const row = state.rows[number]
    if (row === undefined) continue
    numbers[number] = fresh.rows.length
    addRow(fresh, row)
  }
  for (const [param, index] of state.params) {
    const copy = indexOf(fresh, param)
    index.visit(state.live, (number, entry) => copy.add(numbers[number] ?? 0, entry))
  }
  return fresh
}

/**
 * The entries of one search parameter over all resources of a type. Entries are only added; those of replaced resources stay until the table is rebuilt.
 */
interface ParamIndex {
  /** @param row Number of the resource in its table, not less than that of the previous entry. */
  add(row: number, entry: Fields): void
  /** The rows with an entry that satisfies every comparison. Must not be changed, because it is kept for the next call. */
  rowsWith(all: readonly Comparison[]): Bits
  /** Those of some rows; suitable when these are few. */
  rowsAmong(rows: Bits, all: readonly Comparison[]): Bits
  /** The entries of a row. */
  entriesOf(row: number): readonly Fields[]
  /** The values of a field in the entries of a row. */
  valuesOf(row: number, field: EntryField): readonly (string | number)[]
  /** Visits the entries of some rows, ascending. */
  visit(rows: Bits, visit: (row: number, entry: Fields) => void): void
  /** The references of this parameter to resources of a type. */
  links(to: Pick<Linked, 'system' | 'targets'>): Links
}

/** A field by which resources are sorted. */
type EntryField = Exclude<SortKey['field'], 'id' | 'lastUpdated'>

/** Creates an empty index. */
function createParamIndex(): ParamIndex {
  const columns = createEntryColumns()
  const { rowOf } = columns
  const kept = createKeptRows(columns)
  const links = new Map<string, Links>()
  const rowsWith = (all: readonly Comparison[]): Bits => {
    const known = kept.find(all)
    if (known !== undefined) return known
    const rows = emptyBits(columns.rowLimit())
    const ofEntries = rowOf.all()
    columns.visit(all, (entry) => addBit(rows, ofEntries[entry] ?? 0))
    kept.keep(all, rows)
    return rows
  }
  return {
    add: (row, entry) => columns.add(row, entry),
    rowsWith,
    rowsAmong(rows, all) {
      if (kept.isFrequent(all)) return intersection(rows, rowsWith(all))
      const found = new Uint32Array(rows.length)
      const holds = columns.test(all)
      columns.visitRows(rows, (entry, row) => void (holds(entry) && addBit(found, row)))
      return found
    },
    entriesOf(row) {
      const entries: Fields[] = []
      columns.visitRow(row, (entry) => entries.push(columns.at(entry)))
      return entries
    },
    valuesOf(row, field) {
      const values: (string | number)[] = []
      columns.visitRow(row, (entry) => {
        const value = columns[field].at(entry)
        if (value !== undefined) values.push(value)
      })
      return values
    },
    visit: (rows, visit) => columns.visitRows(rows, (entry, row) => visit(row, columns.at(entry))),
    links({ system, targets }) {
      const known = links.get(system) ?? createLinks({ columns, system, targets })
      links.set(system, known)
      return known
    },
  }
}

/** The rows of recent tests, kept up to date with the entries: many rows as a bitmap, few as a list. */
interface KeptRows {
  /** The rows of a test; `undefined` when they are not kept. Must not be changed. */
  find(all: readonly Comparison[]): Bits | undefined
  keep(all: readonly Comparison[], rows: Bits): void
  /** Whether a test is so frequent that its rows are better kept. */
  isFrequent(all: readonly Comparison[]): boolean
}

interface Kept {
  /** `undefined` when the rows are few. */
  bits: Bits | undefined
  readonly list: Numbers
  /** Number of entries examined. */
  upTo: number
}

/** Maximum number of bytes of all kept rows, unless eight bytes per entry are more. */
const MIN_BYTES = 4 * 1024 * 1024
const MAX_KEPT = 256
/** A bitmap is shorter than a list if more than one in this many rows satisfies a test. */
const LARGE_PART = 32

/** Keeps rows for the entries of one search parameter, at first none. */
function createKeptRows(columns: EntryColumns): KeptRows {
  const kept = new Map<string, Kept>()
  const isFrequent = createFrequency()
  const add = (one: Kept, row: number): void => {
    if (one.bits === undefined) return one.list.push(row)
    one.bits = withRoomFor(one.bits, row)
    addBit(one.bits, row)
  }
  const bitsOf = (one: Kept, all: readonly Comparison[]): Bits => {
    const holds = columns.test(all)
    for (; one.upTo < columns.length(); one.upTo++) if (holds(one.upTo)) add(one, columns.rowOf.at(one.upTo))
    return one.bits ?? bitsOfList(one.list, columns.rowLimit())
  }
  const isTooMuch = (): boolean => {
    const bytes = [...kept.values()].reduce((sum, { bits, list }) => sum + (bits?.byteLength ?? list.length() * 4), 0)
    return kept.size > MAX_KEPT || bytes > Math.max(MIN_BYTES, columns.length() * 8)
  }
  return {
    find(all) {
      const key = testKey(all)
      const found = key === undefined ? undefined : kept.get(key)
      if (key === undefined || found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return bitsOf(found, all)
    },
    keep(all, rows) {
      const key = testKey(all)
      if (key === undefined) return
      const isLarge = countBits(rows) * LARGE_PART > columns.rowLimit()
      const list = createNumbers()
      if (!isLarge) visitMembers(rows, (row) => list.push(row))
      kept.set(key, { bits: isLarge ? rows : undefined, list, upTo: columns.length() })
      while (kept.size > 1 && isTooMuch()) kept.delete(kept.keys().next().value ?? '')
    },
    isFrequent(all) {
      const key = testKey(all)
      return key !== undefined && isFrequent(key)
    },
  }
}

function bitsOfList(list: Numbers, limit: number): Bits {
  const bits = emptyBits(limit)
  for (let index = 0; index < list.length(); index++) addBit(bits, list.at(index))
  return bits
}
