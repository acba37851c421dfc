import { countBits, createNumbers, hasBit, visitMembers, type Bits, type Numbers } from '../bits/index.js'
import {
  isNumberComparison,
  isTextComparison,
  type Comparison,
  type IndexEntry,
  type NumberComparison,
  type TextComparison,
} from '../storage/index.js'
import { createNumberColumn, type NumberColumn } from './number-column.js'
import { createTextColumn, type TextColumn } from './text-column.js'

type TextField = TextComparison['field']
type NumberField = NumberComparison['field']

/** The fields of an entry. */
export type Fields = Omit<IndexEntry, 'param'>

/** The entries of one search parameter, numbered from 0: the row of each, and a column for each of its fields. */
export interface EntryColumns extends Readonly<Record<TextField, TextColumn> & Record<NumberField, NumberColumn>> {
  /** The row of each entry, ascending. */
  readonly rowOf: Numbers
  /** @param row Not less than that of the previous entry. */
  add(row: number, entry: Fields): void
  at(entry: number): Fields
  length(): number
  /** The number after that of the last row; 0 without entries. */
  rowLimit(): number
  /** Visits the entries that satisfy every comparison, in no order. */
  visit(all: readonly Comparison[], visit: (entry: number) => void): void
  /** Returns a test of single entries: whether one satisfies every comparison. */
  test(all: readonly Comparison[]): (entry: number) => boolean
  /** Visits the entries of a row. */
  visitRow(row: number, visit: (entry: number) => void): void
  /** Visits the entries of some rows, ascending. */
  visitRows(rows: Bits, visit: (entry: number, row: number) => void): void
}

/** Creates columns without entries. */
export function createEntryColumns(): EntryColumns {
  const rowOf = createNumbers()
  const texts = { system: createTextColumn(), value: createTextColumn(), text: createTextColumn() }
  const numbers = { low: createNumberColumn(), high: createNumberColumn() }
  const columns = { ...texts, ...numbers }
  const testOf = (comparison: Comparison): ((entry: number) => boolean) => {
    if (isTextComparison(comparison)) return texts[comparison.field].test(comparison)
    if (isNumberComparison(comparison)) return numbers[comparison.field].test(comparison)
    const column = columns[comparison.field]
    return (entry) => !column.has(entry)
  }
  const test = (all: readonly Comparison[]): ((entry: number) => boolean) => {
    const [first, ...others] = all.map(testOf)
    if (first === undefined) return () => true
    return others.length === 0 ? first : (entry) => first(entry) && others.every((holds) => holds(entry))
  }
  return {
    ...columns,
    rowOf,
    add(row, { system, value, text, low, high }) {
      const entry = rowOf.length()
      rowOf.push(row)
      if (system !== undefined) texts.system.set(entry, system)
      if (value !== undefined) texts.value.set(entry, value)
      if (text !== undefined) texts.text.set(entry, text)
      if (low !== undefined) numbers.low.set(entry, low)
      if (high !== undefined) numbers.high.set(entry, high)
    },
    at: (entry) => fieldsAt(columns, entry),
    length: () => rowOf.length(),
    rowLimit: () => (rowOf.length() === 0 ? 0 : rowOf.at(rowOf.length() - 1) + 1),
    visit(all, visit) {
      const by = mostSelective(all)
      const rest = all.filter((comparison) => comparison !== by)
      const holds = test(rest)
      const visitHeld = rest.length === 0 ? visit : (entry: number): void => void (holds(entry) && visit(entry))
      if (by === undefined) for (let entry = 0; entry < rowOf.length(); entry++) visitHeld(entry)
      else if (isTextComparison(by)) texts[by.field].visit(by, visitHeld)
      else numbers[by.field].visit(by, visitHeld)
    },
    test,
    visitRow(row, visit) {
      for (let entry = rowOf.firstFrom(0, row); entry < rowOf.length() && rowOf.at(entry) === row; entry++) visit(entry)
    },
    visitRows(rows, visit) {
      if (countBits(rows) * SMALL_PART >= rowOf.length()) {
        for (const [entry, row] of rowOf.all().entries()) if (hasBit(rows, row)) visit(entry, row)
        return
      }
      let entry = 0
      visitMembers(rows, (row) => {
        for (entry = rowOf.firstFrom(entry, row); entry < rowOf.length() && rowOf.at(entry) === row; entry++) visit(entry, row)
      })
    },
  }
}

function fieldsAt(columns: Pick<EntryColumns, TextField | NumberField>, entry: number): Fields {
  const [system, value, text] = [columns.system.at(entry), columns.value.at(entry), columns.text.at(entry)]
  const [low, high] = [columns.low.at(entry), columns.high.at(entry)]
  return {
    ...(system !== undefined && { system }),
    ...(value !== undefined && { value }),
    ...(text !== undefined && { text }),
    ...(low !== undefined && { low }),
    ...(high !== undefined && { high }),
  }
}

/** The entries of fewer rows than one for this many entries are looked up; otherwise going through all entries is faster. */
const SMALL_PART = 8

/** The comparison by which entries are looked up: exact texts first, then patterns, then numbers; a value before a text before a system. */
function mostSelective(all: readonly Comparison[]): TextComparison | NumberComparison | undefined {
  const texts = all.filter(isTextComparison).sort((a, b) => cost(a) - cost(b))
  return texts[0] ?? all.find(isNumberComparison)
}

function cost({ op, field }: TextComparison): number {
  return (op === 'eq' || op === 'in' ? 0 : 3) + ['value', 'text', 'system'].indexOf(field)
}
