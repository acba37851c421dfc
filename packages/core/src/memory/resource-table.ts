import type { IndexEntry, StoredResource } from '../storage/index.js'
import { addBit, emptyBits, removeBit, type Bits } from './bits.js'
import { createIdOrder, type IdOrder } from './id-order.js'
import { createParamIndex, type ParamIndex } from './param-index.js'

/** A current resource with what it is found by. */
export interface Row {
  readonly stored: StoredResource
  readonly entries: readonly IndexEntry[]
  /** `lastUpdated` in milliseconds since 1970. */
  readonly updated: number
}

/** The resources of one type. Every put makes a new row; sets of resources are sets of row numbers. */
export interface ResourceTable {
  put(row: Row): void
  delete(id: string): void
  find(id: string): number | undefined
  row(number: number): Row | undefined
  param(code: string): ParamIndex | undefined
  /** The rows that are current. Do not change it. */
  live(): Bits
  /** @yields The rows behind an id, or all, in ascending order of ids; rows that are no longer current may be among them. */
  after(id: string | undefined): Iterable<number>
}

/** Rows that are no longer current are dropped when there are more of them than current ones, and more than this. */
const MIN_DEAD_ROWS = 1_000

export function createResourceTable(): ResourceTable {
  let state = emptyState()
  const compactIfDue = (): void => {
    const dead = state.rows.length - state.current.size
    if (dead > MIN_DEAD_ROWS && dead > state.current.size) state = compacted(state)
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
    after: (id) => state.order.after(id),
  }
}

interface TableState {
  readonly rows: Row[]
  /** Row number by id. */
  readonly current: Map<string, number>
  readonly params: Map<string, ParamIndex>
  readonly order: IdOrder
  live: Bits
}

function emptyState(): TableState {
  const rows: Row[] = []
  const order = createIdOrder((row) => rows[row]?.stored.id ?? '')
  return { rows, current: new Map(), params: new Map(), order, live: emptyBits(1_024) }
}

function addRow(state: TableState, row: Row): void {
  const number = state.rows.push(row) - 1
  state.current.set(row.stored.id, number)
  state.order.add(number)
  if (number >= state.live.length * 32) state.live = grown(state.live)
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

function grown(bits: Bits): Bits {
  const larger = new Uint32Array(bits.length * 2)
  larger.set(bits)
  return larger
}

function compacted(state: TableState): TableState {
  const fresh = emptyState()
  for (const number of state.current.values()) {
    const row = state.rows[number]
    if (row !== undefined) addRow(fresh, row)
  }
  return fresh
}
