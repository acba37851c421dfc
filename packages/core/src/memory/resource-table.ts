import { comparePositions, sortKeyAmong, type IndexEntry, type SortKey, type SortPosition, type StoredResource } from '../storage/index.js'
import { addBit, emptyBits, removeBit, withRoomFor, type Bits } from '../bits/index.js'
import { createParamIndex, type ParamIndex } from './param-index.js'
import { createRowOrder, type RowOrder } from './row-order.js'

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
