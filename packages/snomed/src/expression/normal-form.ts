import { CONCRETE } from '../release/attributes.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { type RowRange, rowsOf } from '../evaluate/row-range.js'
import type { Expression, ExpressionAttribute } from './expression.js'

/** An expression, or a concept seen as one, with everything that is known to be true of it. */
export interface NormalForm {
  readonly foci: readonly number[]
  /** Its own relationships together with those that define its foci. */
  readonly range: RowRange
}

interface Row {
  readonly type: number
  readonly group: number
  readonly value: number
}

/** The normal form of an expression: relationships of the foci are added, each role group stays a group of its own. */
export function normalForm(index: SnomedIndex, { foci, ungrouped, groups }: Expression): NormalForm {
  const rows: Row[] = ungrouped.map((attribute) => rowOf(index, attribute, 0))
  let last = 0
  for (const group of groups) {
    last++
    for (const attribute of group) rows.push(rowOf(index, attribute, last))
  }
  for (const focus of foci) {
    const inherited = rowsIn(rowsOf(index, focus))
    rows.push(...inherited.map((row) => ({ ...row, group: row.group === 0 ? 0 : row.group + last })))
    last += Math.max(0, ...inherited.map(({ group }) => group))
  }
  const sorted = rows.toSorted((a, b) => a.group - b.group)
  const column = (read: (row: Row) => number): Uint32Array => Uint32Array.from(sorted, read)
  const columns = { types: column(({ type }) => type), groups: column(({ group }) => group), values: column(({ value }) => value) }
  return { foci, range: { rows: columns, from: 0, to: sorted.length } }
}

/** The normal form of a concept. */
export function normalFormOf(index: SnomedIndex, concept: number): NormalForm {
  return { foci: [concept], range: rowsOf(index, concept) }
}

/** The relationships of a range. */
export function rowsIn({ rows, from, to }: RowRange): readonly Row[] {
  return Array.from({ length: to - from }, (_, i) => ({
    type: rows.types[from + i] ?? 0,
    group: rows.groups[from + i] ?? 0,
    value: rows.values[from + i] ?? 0,
  }))
}

/** A concrete value that no concept of the version has gets a number that none has either. */
function rowOf({ header }: SnomedIndex, { type, value }: ExpressionAttribute, group: number): Row {
  if (typeof value === 'number') return { type, group, value }
  const known = header.values.indexOf(value.replace(/^#/, ''))
  return { type, group, value: CONCRETE + (known < 0 ? header.values.length : known) }
}
