import { highOf, idTable, lowOf, type IdTable } from '../release/id-table.js'
import { column } from './column.js'

/** Rows of components as they come, each with its id and time. */
export interface ComponentRows {
  readonly length: number
  /** Takes the first two columns of a row. */
  push(row: readonly string[]): void
  readonly times: Uint32Array
  /** The row of each id, the newest where an id came several times, in ascending order of ids. */
  sorted(): SortedRows
}

/** Ids in ascending order with the rows in which they came. */
export interface SortedRows {
  readonly ids: IdTable
  readonly rows: Uint32Array
}

/** Makes an empty list of rows. */
export function componentRows(): ComponentRows {
  const [high, low, times] = [column(), column(), column()]
  return {
    get length() {
      return high.length
    },
    push([id = '', effectiveTime]) {
      high.push(highOf(id))
      low.push(lowOf(id))
      times.push(Number(effectiveTime))
    },
    get times() {
      return times.values()
    },
    sorted() {
      const [highs, lows, all] = [high.values(), low.values(), times.values()]
      const order = Uint32Array.from({ length: highs.length }, (_, row) => row)
      const at = (numbers: Uint32Array, row: number): number => numbers[row] ?? 0
      order.sort((a, b) => at(highs, a) - at(highs, b) || at(lows, a) - at(lows, b) || at(all, b) - at(all, a) || b - a)
      const rows = order.filter((row, i) => {
        const before = order[i - 1]
        return before === undefined || at(highs, row) !== at(highs, before) || at(lows, row) !== at(lows, before)
      })
      return { ids: idTable({ high: rows.map((row) => at(highs, row)), low: rows.map((row) => at(lows, row)) }), rows }
    },
  }
}
