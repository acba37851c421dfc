import type { Comparison, IndexEntry } from '../storage/index.js'
import { addBit, type Bits } from '../bits/index.js'
import { isNumberComparison, isTextComparison, satisfies, type NumberComparison, type TextComparison } from './entry-test.js'
import { createNumberOrder, type NumberOrder } from './number-order.js'
import { createPostings, type Postings } from './postings.js'

/**
 * The entries of one search parameter over all resources of a type. Entries are only added, each at the next position; those of
 * replaced resources stay until the table is built again.
 */
export interface ParamIndex {
  /** @param row Number of the resource in its table. */
  add(row: number, entry: IndexEntry): void
  /** Adds to `rows` those that have an entry which satisfies every comparison. */
  collect(all: readonly Comparison[], rows: Bits): void
  /** The same rows as a list, right where they are few; a row may come several times. */
  rows(all: readonly Comparison[]): readonly number[]
}

export function createParamIndex(): ParamIndex {
  const rowOf: number[] = []
  const entries: IndexEntry[] = []
  const lookUp = createLookUp(entries)
  const forEachRow = (all: readonly Comparison[], visit: (row: number) => void): void => {
    const by = mostSelective(all)
    const rest = all.filter((comparison) => comparison !== by)
    for (const positions of by === undefined ? [Array.from(entries.keys())] : lookUp(by)) {
      for (let index = 0; index < positions.length; index++) {
        const position = positions[index] ?? 0
        if (rest.length === 0 || satisfies(entries[position] ?? NO_ENTRY, rest)) visit(rowOf[position] ?? 0)
      }
    }
  }
  return {
    add(row, entry) {
      rowOf.push(row)
      entries.push(entry)
    },
    collect(all, rows) {
      forEachRow(all, (row) => addBit(rows, row))
    },
    rows(all) {
      const found: number[] = []
      forEachRow(all, (row) => void found.push(row))
      return found
    },
  }
}

const NO_ENTRY: IndexEntry = { param: '' }

type Indexed = TextComparison | NumberComparison

function createLookUp(entries: readonly IndexEntry[]): (by: Indexed) => readonly ArrayLike<number>[] {
  const postings = new Map<TextComparison['field'], Postings>()
  const orders = new Map<NumberComparison['field'], NumberOrder>()
  return (by) => {
    if (isTextComparison(by)) {
      const found = postings.get(by.field) ?? createPostings(by.field, entries)
      postings.set(by.field, found)
      return found.positions(by)
    }
    const found = orders.get(by.field) ?? createNumberOrder(by.field, entries)
    orders.set(by.field, found)
    return found.positions(by)
  }
}

/** The comparison to look entries up by: exact texts, then patterns, then numbers; a value before a text before a system. */
function mostSelective(all: readonly Comparison[]): Indexed | undefined {
  const texts = all.filter(isTextComparison).sort((a, b) => cost(a) - cost(b))
  return texts[0] ?? all.find(isNumberComparison)
}

function cost({ op, field }: TextComparison): number {
  return (op === 'eq' || op === 'in' ? 0 : 3) + ['value', 'text', 'system'].indexOf(field)
}
