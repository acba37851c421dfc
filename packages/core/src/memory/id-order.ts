import { firstIndex } from './first-index.js'

/** Row numbers in ascending order of their ids. Rows may be added in any order; those that are no longer current stay among them. */
export interface IdOrder {
  add(row: number): void
  /** @yields The rows behind an id, or all of them. */
  after(id: string | undefined): Generator<number, void, undefined>
}

/** This part of what is sorted may be kept apart before it is sorted in. */
const PART_APART = 1 / 64

/** @param idOf The id of a row. */
export function createIdOrder(idOf: (row: number) => string): IdOrder {
  let sorted: number[] = []
  let apart: number[] = []
  const byId = (a: number, b: number): number => (idOf(a) < idOf(b) ? -1 : Number(idOf(a) > idOf(b)))
  const tidy = (): void => {
    apart.sort(byId)
    if (apart.length <= sorted.length * PART_APART) return
    sorted = sorted.concat(apart).sort(byId)
    apart = []
  }
  return {
    add: (row) => void apart.push(row),
    *after(id) {
      tidy()
      let left = startAfter(sorted, id)
      let right = startAfter(apart, id)
      for (;;) {
        const a = sorted[left]
        const b = apart[right]
        const isLeft = b === undefined || (a !== undefined && idOf(a) <= idOf(b))
        const next = isLeft ? a : b
        if (next === undefined) return
        yield next
        if (isLeft) left++
        else right++
      }
    },
  }

  function startAfter(rows: readonly number[], id: string | undefined): number {
    return id === undefined ? 0 : firstIndex(rows.length, (index) => idOf(rows[index] ?? 0) > id)
  }
}
