import type { Comparison } from 'fhir-ops/storage'
import { textAfter } from './keyset.js'
import { sqlTag, type Sql } from './sql.js'

const sql = sqlTag<never>()

/** The column of index entries for each field. */
export const COLUMN: Readonly<Record<Comparison['field'], Sql<never>>> = {
  system: sql`system`,
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}

/** SQL operators for ordered comparisons. */
export const ORDER_OPERATOR: Readonly<Record<'lt' | 'le' | 'gt' | 'ge', Sql<never>>> = { lt: sql`<`, le: sql`<=`, gt: sql`>`, ge: sql`>=` }

/** Condition that a text begins with a prefix, as a range that an index can answer: from the prefix itself to the first text after all that begin with it. */
export function hasPrefix<V>(text: Sql<V>, prefix: string): Sql<V | string> {
  const sql = sqlTag<V | string>()
  const end = textAfter(prefix)
  return end === undefined ? sql`${text} >= ${prefix}` : sql`${text} >= ${prefix} AND ${text} < ${end}`
}
