import { comparePositions, positionOf, type IndexedResource, type SortKey, type SortPosition } from '../storage/index.js'
import { addBit, emptyBits, removeBit, withRoomFor, type Bits } from '../bits/index.js'
import { createParamIndex, type ParamIndex } from './param-index.js'
import { createRowOrder, type RowOrder } from './row-order.js'

/** A current resource with its index entries. */
export interface Row extends IndexedResource {
  /** Length of the text as it was written. */
  readonly length: number
  /** `lastUpdated` in milliseconds since 1970. */
  readonly updated: number
}

/** The resources of one type. Every put adds a row; sets of resources are sets of row numbers. */
export interface ResourceTable {
  put(row: Row): void
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
  /** @yields The rows after a position, or all, in the order of the sort keys; rows that are no longer current may be among them. */
  after(sort: readonly SortKey[], position: SortPosition | undefined): Iterable<number>
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
    put(row) {
      dropRow(state, row.stored.id)
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
    after: (sort, position) => orderBy(state, sort).after(position),
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

function orderBy({ rows, orders }: TableState, sort: readonly SortKey[]): RowOrder<SortPosition> {
  const key = JSON.stringify(sort)
  const order = orders.get(key) ?? newOrder(rows, sort)
  orders.delete(key)
  orders.set(key, order)
  if (orders.size > MAX_ORDERS) orders.delete(orders.keys().next().value ?? '')
  return order
}

function newOrder(rows: readonly Row[], sort: readonly SortKey[]): RowOrder<SortPosition> {
  const order = createRowOrder<SortPosition>({
    placeOf(number) {
      const row = rows[number]
      return row === undefined ? { keys: [], id: '' } : positionOf(row, sort)
    },
    compare: (a, b) => comparePositions(a, b, sort),
  })
  for (const number of rows.keys()) order.add(number)
  return order
}

function addRow(state: TableState, row: Row): void {
  const number = state.rows.push(row) - 1
  state.current.set(row.stored.id, number)
  for (const order of state.orders.values()) order.add(number)
  state.live = withRoomFor(state.live, number)
  addBit(state.live, number)
  for (const entry of row.entries) {
    const index = state.params.get(entry.param) ?? createParamIndex()
    state.params.set(entry.param, index)
    index.add(number, entry)
  }
}

function dropRow(state: TableState, id: string): void {
  const number = state.current.get(id)
  if (number === undefined) return
  removeBit(state.live, number)
  state.current.delete(id)
}

function compacted(state: TableState): TableState {
  const fresh = emptyState()
  for (const number of state.current.values()) {
    const row = state.rows[number]
    if (row !== undefined) addRow(fresh, row)
  }
  return fresh
}
