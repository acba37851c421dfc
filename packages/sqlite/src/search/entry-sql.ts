import { COLUMN, hasPrefix, joined, ORDER_OPERATOR, sortColumn } from '@fhir-ops/sql'
import type { Comparison, EntryTest, SearchQuery, SortKey } from 'fhir-ops/storage'
import { sql, type Sql } from '../database/driver.js'

/**
 * Returns the keys of resources with an entry that passes the test; a key may occur several times. Each case names a covering
 * index, so that the plan does not depend on SQLite's estimates.
 */
export function keysOfTest(type: string, { param, all }: EntryTest): Sql {
  const { from, where } = accessFor(all)
  return sql`SELECT resource AS key FROM ${from} WHERE param = ${paramKey(type, param)} AND ${where} AND ${comparisonsSql(all)}`
}

/** Condition that the resource with this key has such an entry, tested on its own entries, which are stored together. */
export function keyPasses(type: string, { param, all }: EntryTest, key: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM (${entriesOf(key, paramKey(type, param))}) WHERE ${comparisonsSql(all)})`
}

/** Returns the entries of a resource. LIMIT stops SQLite from searching by value first, which would find entries of other resources too. */
export function entriesOf(key: Sql, param: Sql): Sql {
  return sql`SELECT * FROM entry WHERE resource = ${key} AND param = ${param} LIMIT -1`
}

/** Number of a search parameter; null if no resource has entries of it. Checks the time limit, because its entries are read next. */
export function paramKey(type: string, name: string): Sql {
  return sql`(SELECT key FROM param WHERE type = ${type} AND name = ${name} AND in_time())`
}

/**
 * True. Checks the time limit at one row in 64, because calling a JavaScript function takes longer than advancing to the next index entry (bench
 * `storage`, counts).
 *
 * @param key Number of the row's resource.
 */
export function inTime(key: Sql): Sql {
  return sql`(${key} & 63 OR in_time())`
}

/**
 * Returns the index for the comparisons, and the index's own condition in the exact form that SQLite requires. If the index is read in an order
 * other than that of the keys, which is slow, the time limit is checked.
 */
function accessFor(all: readonly Comparison[]): { readonly from: Sql; readonly where: Sql } {
  const present = all.filter(({ op }) => op !== 'absent')
  const exact = present.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
  if (!exact && present.some(({ field }) => field === 'text'))
    return { from: sql`entry INDEXED BY entry_text`, where: sql`text IS NOT NULL AND ${inTime(sql`resource`)}` }
  if (all.length > 0 && present.length === all.length && all.every(({ field }) => field === 'high')) {
    return { from: sql`entry INDEXED BY entry_high`, where: sql`high IS NOT NULL AND ${inTime(sql`resource`)}` }
  }
  if (present.some(({ field }) => field === 'low' || field === 'high')) {
    return { from: sql`entry INDEXED BY entry_range`, where: sql`coalesce(low, high) IS NOT NULL AND ${inTime(sql`resource`)}` }
  }
  return { from: sql`entry INDEXED BY entry_value`, where: sql`1` }
}

function comparisonsSql(all: readonly Comparison[]): Sql {
  return all.length === 0 ? sql`1` : joined(all.map(comparisonSql), ' AND ')
}

function comparisonSql(comparison: Comparison): Sql {
  const column = COLUMN[comparison.field]
  switch (comparison.op) {
    case 'absent':
      return sql`${column} IS NULL`
    case 'eq':
      return sql`${column} = ${comparison.operand}`
    case 'in':
      return sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(comparison.operands)}))`
    case 'prefix':
      return hasPrefix(column, comparison.operand)
    case 'contains':
      return sql`instr(${column}, ${comparison.operand}) > 0`
    case 'suffix':
      return suffixSql(column, comparison.operand)
    default:
      return sql`${column} ${ORDER_OPERATOR[comparison.op]} ${comparison.operand}`
  }
}

function suffixSql(column: Sql, suffix: string): Sql {
  if (suffix === '') return sql`${column} IS NOT NULL`
  return sql`substr(${column}, -length(${suffix})) = ${suffix}`
}

/**
 * The expressions by which a query sorts, for the resource `r`, named as sort columns.
 *
 * @param from Index of the first expression to include.
 */
export function sortColumns({ type, sort = [] }: Pick<SearchQuery, 'type' | 'sort'>, from = 0): Sql {
  return joined(
    sort.map((key, index) => (index < from ? sql`` : sql`, ${sortExpression(type, key)} AS ${sortColumn(index)}`)),
    '',
  )
}

function sortExpression(type: string, { param, field, descending }: SortKey): Sql {
  if (field === 'id') return sql`r.id`
  if (field === 'lastUpdated') return sql`r.updated`
  const column = COLUMN[field]
  const best = descending ? sql`max(${column})` : sql`min(${column})`
  return sql`(SELECT ${best} FROM (${entriesOf(sql`r.key`, paramKey(type, param))}))`
}

type EntryField = Exclude<SortKey['field'], 'lastUpdated' | 'id'>

/** Source of the rows `r` of a type in the order of a sort key, from an index, without resources that lack the key. */
export interface OrderedRows {
  /** Value of the key. */
  readonly key: Sql
  readonly from: Sql
  readonly where: Sql
}

/** Returns each resource once, with the entry that determines its position. */
export function rowsInOrder(type: string, { param, field, descending }: SortKey): OrderedRows {
  if (field === 'id') return { key: sql`r.id`, from: sql`resource AS r INDEXED BY resource_id`, where: sql`r.type = ${type}` }
  if (field === 'lastUpdated')
    return { key: sql`r.updated`, from: sql`resource AS r INDEXED BY resource_updated`, where: sql`r.type = ${type}` }
  const column = COLUMN[field]
  const key = sql`e.${column}`
  const better = sql`o.${column} ${descending ? sql`>` : sql`<`} ${key} OR (o.${column} = ${key} AND o.n < e.n)`
  return {
    key,
    from: sql`entry AS e INDEXED BY ${ORDERED_BY[field]} CROSS JOIN resource AS r`,
    where: sql`e.param = ${paramKey(type, param)} AND ${key} IS NOT NULL AND ${PART[field]} AND r.key = e.resource
      AND NOT EXISTS (SELECT 1 FROM (${entriesOf(sql`e.resource`, sql`e.param`)}) AS o WHERE ${better})`,
  }
}

const ORDERED_BY: Readonly<Record<EntryField, Sql>> = {
  value: sql`entry_value`,
  text: sql`entry_text`,
  low: sql`entry_range`,
  high: sql`entry_high`,
}

/** The index's own condition on its entries, in the exact form that SQLite requires. */
const PART: Readonly<Record<EntryField, Sql>> = {
  value: sql`1`,
  text: sql`1`,
  low: sql`coalesce(e.low, e.high) IS NOT NULL`,
  high: sql`1`,
}
