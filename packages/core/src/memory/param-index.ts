import { addBit, createNumbers, emptyBits, intersection, membersOf, type Bits, type Numbers } from '../bits/index.js'
import {
  isNumberComparison,
  isTextComparison,
  numberHolds,
  satisfies,
  type Comparison,
  type IndexEntry,
  type NumberComparison,
  type TextComparison,
  textHolds,
} from '../storage/index.js'
import { createKeptRows } from './kept-rows.js'
import { createLinks, type Linked, type Links } from './links.js'
import { createNumberOrder, type NumberOrder } from './row-order.js'

/**
 * The entries of one search parameter over all resources of a type. Entries are only added, each at the next position; those of
 * replaced resources stay until the table is rebuilt.
 */
export interface ParamIndex {
  /** @param row Number of the resource in its table, not less than that of the previous entry. */
  add(row: number, entry: IndexEntry): void
  /** The rows with an entry that satisfies every comparison. Must not be changed, because it is kept for the next call. */
  rowsWith(all: readonly Comparison[]): Bits
  /** Those of some rows; suitable when these are few. */
  rowsAmong(rows: Bits, all: readonly Comparison[]): Bits
  /** Like `rowsWith`, as a list; suitable when they are few. A row may occur several times. */
  rows(all: readonly Comparison[]): readonly number[]
  /** The references of this parameter to resources of a type. */
  links(to: Pick<Linked, 'system' | 'targets'>): Links
}

/** Creates an empty index. */
export function createParamIndex(): ParamIndex {
  const rowOf = createNumbers()
  const entries: IndexEntry[] = []
  const lookUp = createLookUp(entries)
  const kept = createKeptRows({ entries, rowOf })
  const links = new Map<string, Links>()
  const rowsOf = (all: readonly Comparison[]): Numbers => {
    const by = mostSelective(all)
    const rest = all.filter((comparison) => comparison !== by)
    const rows = createNumbers()
    for (const positions of by === undefined ? [Array.from(entries.keys())] : lookUp(by)) {
      for (let index = 0; index < positions.length; index++) {
        const position = positions[index] ?? 0
        if (rest.length === 0 || satisfies(entries[position] ?? NO_ENTRY, rest)) rows.push(rowOf.at(position))
      }
    }
    return rows
  }
  const rowsWith = (all: readonly Comparison[]): Bits => {
    const known = kept.find(all)
    if (known !== undefined) return known
    const rows = rowsOf(all)
    const bits = emptyBits(entries.length === 0 ? 0 : rowOf.at(entries.length - 1) + 1)
    for (let index = 0; index < rows.length(); index++) addBit(bits, rows.at(index))
    kept.keep(all, rows)
    return bits
  }
  return {
    add(row, entry) {
      rowOf.push(row)
      entries.push(entry)
    },
    rowsWith,
    rowsAmong(rows, all) {
      if (kept.isFrequent(all)) return intersection(rows, rowsWith(all))
      const found = new Uint32Array(rows.length)
      let position = 0
      for (const row of membersOf(rows)) {
        position = rowOf.firstFrom(position, row)
        for (; position < entries.length && rowOf.at(position) === row; position++)
          if (satisfies(entries[position] ?? NO_ENTRY, all)) addBit(found, row)
      }
      return found
    },
    rows(all) {
      const rows = rowsOf(all)
      return Array.from({ length: rows.length() }, (_, index) => rows.at(index))
    },
    links({ system, targets }) {
      const known = links.get(system) ?? createLinks({ entries, rowOf, system, targets })
      links.set(system, known)
      return known
    },
  }
}

const NO_ENTRY: IndexEntry = { param: '' }

type Indexed = TextComparison | NumberComparison

/** Number of lookups by a field that go through all entries before these are sorted by it, which takes as long. */
const ASKED_BEFORE_ORDER = 8

function createLookUp(entries: readonly IndexEntry[]): (by: Indexed) => readonly ArrayLike<number>[] {
  const postings = new Map<TextComparison['field'], Postings>()
  const orders = new Map<NumberComparison['field'], NumberOrder>()
  const asked = new Map<Indexed['field'], number>()
  return (by) => {
    const times = (asked.get(by.field) ?? 0) + 1
    asked.set(by.field, times)
    if (times <= ASKED_BEFORE_ORDER) return [positionsWhere(entries, by)]
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

function positionsWhere(entries: readonly IndexEntry[], by: Indexed): ArrayLike<number> {
  return isTextComparison(by)
    ? positionsOf(entries, by.field, textTest(by))
    : positionsOf(entries, by.field, (value) => numberHolds(value, by))
}

function positionsOf<Field extends Indexed['field']>(
  entries: readonly IndexEntry[],
  field: Field,
  test: (value: NonNullable<IndexEntry[Field]>) => boolean,
): ArrayLike<number> {
  const positions: number[] = []
  for (let position = 0; position < entries.length; position++) {
    const value = entries[position]?.[field]
    if (value !== undefined && test(value)) positions.push(position)
  }
  return positions
}

function textTest(by: TextComparison): (text: string) => boolean {
  if (by.op !== 'in') return (text) => textHolds(text, by)
  const wanted = new Set(by.operands)
  return (text) => wanted.has(text)
}

/** The comparison by which entries are looked up: exact texts first, then patterns, then numbers; a value before a text before a system. */
function mostSelective(all: readonly Comparison[]): Indexed | undefined {
  const texts = all.filter(isTextComparison).sort((a, b) => cost(a) - cost(b))
  return texts[0] ?? all.find(isNumberComparison)
}

function cost({ op, field }: TextComparison): number {
  return (op === 'eq' || op === 'in' ? 0 : 3) + ['value', 'text', 'system'].indexOf(field)
}

/** Positions of entries by the text of one field. Built at first use, then kept up to date with the entries. */
interface Postings {
  /** Lists of the positions whose text satisfies the comparison. */
  positions(comparison: TextComparison): readonly (readonly number[])[]
}

function createPostings(field: TextComparison['field'], entries: readonly IndexEntry[]): Postings {
  const byText = new Map<string, number[]>()
  let upTo = 0
  const catchUp = (): void => {
    for (; upTo < entries.length; upTo++) {
      const text = entries[upTo]?.[field]
      if (text === undefined) continue
      const list = byText.get(text)
      if (list === undefined) byText.set(text, [upTo])
      else list.push(upTo)
    }
  }
  return {
    positions(comparison) {
      catchUp()
      return textsFor(comparison, byText).map((text) => byText.get(text) ?? [])
    },
  }
}

function textsFor(comparison: TextComparison, byText: ReadonlyMap<string, unknown>): readonly string[] {
  if (comparison.op === 'eq') return [comparison.operand]
  if (comparison.op === 'in') return [...new Set(comparison.operands)]
  return Array.from(byText.keys()).filter((text) => textHolds(text, comparison))
}
