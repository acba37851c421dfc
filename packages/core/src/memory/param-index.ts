import { addBit, emptyBits, intersection, type Bits } from '../bits/index.js'
import type { Comparison, SortKey } from '../storage/index.js'
import { createEntryColumns, type Fields } from './entry-columns.js'
import { createKeptRows } from './kept-rows.js'
import { createLinks, type Linked, type Links } from './links.js'

/**
 * The entries of one search parameter over all resources of a type. Entries are only added; those of replaced resources stay until the table is rebuilt.
 */
export interface ParamIndex {
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
export type EntryField = Exclude<SortKey['field'], 'id' | 'lastUpdated'>

/** Creates an empty index. */
export function createParamIndex(): ParamIndex {
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
