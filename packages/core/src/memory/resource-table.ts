import type { IndexEntry, StoredResource } from '../storage/index.js'
import { addBit, emptyBits, type Bits } from './bits.js'
import { createParamIndex, type ParamIndex } from './param-index.js'

/** A current resource with what it is found by. */
export interface Row {
  readonly stored: StoredResource
  readonly entries: readonly IndexEntry[]
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
  /** Every row number in ascending order of ids; rows that are no longer current may be among them. */
  byId(): readonly number[]
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
      addRow(state, row)
      compactIfDue()
    },
    delete(id) {
      state.current.delete(id)
      state.live = undefined
      compactIfDue()
    },
    find: (id) => state.current.get(id),
    row: (number) => state.rows[number],
    param: (code) => state.params.get(code),
    live: () => (state.live ??= liveRows(state)),
    byId: () => orderedById(state),
  }
}

interface TableState {
  readonly rows: Row[]
  /** Row number by id. */
  readonly current: Map<string, number>
  readonly params: Map<string, ParamIndex>
  live: Bits | undefined
  ordered: number[]
  orderedUpTo: number
}

function emptyState(): TableState {
  return { rows: [], current: new Map(), params: new Map(), live: undefined, ordered: [], orderedUpTo: 0 }
}

function addRow(state: TableState, row: Row): void {
  const number = state.rows.push(row) - 1
  state.current.set(row.stored.id, number)
  state.live = undefined
  for (const entry of row.entries) {
    const index = state.params.get(entry.param) ?? createParamIndex()
    state.params.set(entry.param, index)
    index.add(number, entry)
  }
}

function compacted(state: TableState): TableState {
  const fresh = emptyState()
  for (const number of state.current.values()) {
    const row = state.rows[number]
    if (row !== undefined) addRow(fresh, row)
  }
  return fresh
}

function liveRows({ rows, current }: TableState): Bits {
  const live = emptyBits(rows.length)
  for (const number of current.values()) addBit(live, number)
  return live
}

function orderedById(state: TableState): readonly number[] {
  if (state.orderedUpTo === state.rows.length) return state.ordered
  const idOf = (number: number): string => state.rows[number]?.stored.id ?? ''
  for (; state.orderedUpTo < state.rows.length; state.orderedUpTo++) state.ordered.push(state.orderedUpTo)
  state.ordered.sort((a, b) => (idOf(a) < idOf(b) ? -1 : Number(idOf(a) > idOf(b))))
  return state.ordered
}
