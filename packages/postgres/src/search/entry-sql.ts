import { joined, textAfter } from '@fhir-ops/sql'
import type { Comparison, EntryTest } from 'fhir-ops/storage'
import { beginning, isAnsweredByIndex } from '../resources/entry-rows.js'
import { sql, type Sql } from '../database/sql.js'

/** Holds for an entry of `param` that satisfies every comparison of one of the alternatives. */
export interface EntryTests {
  readonly param: string
  readonly any: readonly EntryTest['all'][]
}

/** Whether the entry in the row `e` passes. */
export function passes(e: Sql, { param, any }: EntryTests): Sql {
  const alternatives = any.map((all) => joined([sql`TRUE`, ...all.map((comparison) => comparisonSql(e, comparison))], ' AND '))
  return sql`${e}.param = ${param} AND (${joined(alternatives, ' OR ')})`
}

type NumberComparison = Extract<Comparison, { readonly operand: number }>
type TextComparison = Extract<Comparison, { readonly operand: string } | { readonly operands: readonly string[] }>
type TextField = TextComparison['field']

const COLUMN: Readonly<Record<Comparison['field'], Sql>> = {
  system: sql`system`,
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}

/** The whole of a text. */
export function wholeText(e: Sql, field: TextField): Sql {
  return sql`coalesce(${e}.whole_${COLUMN[field]}, ${e}.${COLUMN[field]})`
}

function comparisonSql(e: Sql, comparison: Comparison): Sql {
  if (comparison.op === 'absent') return sql`${e}.${COLUMN[comparison.field]} IS NULL`
  return isOfNumbers(comparison) ? numberSql(e, comparison) : textSql(e, comparison)
}

function isOfNumbers(comparison: NumberComparison | TextComparison): comparison is NumberComparison {
  return comparison.field === 'low' || comparison.field === 'high'
}

const OPERATOR: Readonly<Record<NumberComparison['op'], Sql>> = { eq: sql`=`, lt: sql`<`, le: sql`<=`, gt: sql`>`, ge: sql`>=` }

function numberSql(e: Sql, { field, op, operand }: NumberComparison): Sql {
  return sql`${e}.${COLUMN[field]} ${OPERATOR[op]} ${operand}`
}

function textSql(e: Sql, comparison: TextComparison): Sql {
  const { field } = comparison
  switch (comparison.op) {
    case 'eq':
      return equalSql(e, field, comparison.operand)
    case 'in':
      return inSql(e, field, comparison.operands)
    case 'prefix':
      return prefixSql(e, field, comparison.operand)
    case 'contains':
      return sql`position(${comparison.operand} IN ${wholeText(e, field)}) > 0`
    case 'suffix':
      return sql`right(${wholeText(e, field)}, length(${comparison.operand})) = ${comparison.operand}`
  }
}

function equalSql(e: Sql, field: TextField, operand: string): Sql {
  const found = sql`${e}.${COLUMN[field]} = ${beginning(operand)}`
  return isAnsweredByIndex(operand) ? found : sql`${found} AND ${wholeText(e, field)} = ${operand}`
}

function inSql(e: Sql, field: TextField, operands: readonly string[]): Sql {
  const found = sql`${e}.${COLUMN[field]} = ANY (${operands.map(beginning)})`
  return operands.every(isAnsweredByIndex) ? found : sql`${found} AND ${wholeText(e, field)} = ANY (${operands})`
}

/** A prefix is a range: from itself to the first text after all that begin with it. */
function prefixSql(e: Sql, field: TextField, prefix: string): Sql {
  const found = rangeSql(sql`${e}.${COLUMN[field]}`, beginning(prefix))
  return isAnsweredByIndex(prefix) ? found : sql`${found} AND ${rangeSql(wholeText(e, field), prefix)}`
}

function rangeSql(column: Sql, prefix: string): Sql {
  const end = textAfter(prefix)
  return end === undefined ? sql`${column} >= ${prefix}` : sql`${column} >= ${prefix} AND ${column} < ${end}`
}
