import { COLUMN, hasPrefix, joined, ORDER_OPERATOR, sortColumn } from '@fhir-ops/sql'
import type { Comparison, EntryTest, SearchQuery, SortKey } from 'fhir-ops/storage'
import { sql, type Sql } from '../database/sql.js'

/**
 * The keys of the resources with an entry that passes the test; a key may come several times. Each way names the index that covers
 * it, so that the plan does not depend on what SQLite guesses about the data.
 */
export function keysOfTest(type: string, { param, all }: EntryTest): Sql {
  const { from, where } = accessFor(all)
  return sql`SELECT resource AS key FROM ${from} WHERE param = ${paramKey(type, param)} AND ${where} AND ${comparisonsSql(all)}`
}

/** Whether the resource of this key has such an entry, asked of the entries that are stored together for it. */
export function keyPasses(type: string, { param, all }: EntryTest, key: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM (${entriesOf(key, paramKey(type, param))}) WHERE ${comparisonsSql(all)})`
}

/** The entries of one resource. LIMIT keeps SQLite from looking for their values first, which may be anybody's. */
export function entriesOf(key: Sql, param: Sql): Sql {
  return sql`SELECT * FROM entry WHERE resource = ${key} AND param = ${param} LIMIT -1`
}

/** The number of a search parameter; null for one that no resource has an entry of. Asks the time, as its entries are gone through next. */
export function paramKey(type: string, name: string): Sql {
  return sql`(SELECT key FROM param WHERE type = ${type} AND name = ${name} AND in_time())`
}

/**
 * True, and looks at the time at one row in 64: to call a function of JavaScript takes longer than to advance to the next entry of an index (bench
 * `storage`, counts).
 *
 * @param key Number of the row's resource.
 */
export function inTime(key: Sql): Sql {
  return sql`(${key} & 63 OR in_time())`
}

/**
 * The index that answers the comparisons, and the condition of that index in its own words, as SQLite wants it. Where it is gone through in
 * another order than that of the keys, which is slow, it asks the time on the way.
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
 * The expressions that a query sorts by, for the resource `r`, named as sort columns.
 *
 * @param from The first of them that is wanted.
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

/** Where the rows `r` of a type come in the order of a sort key, out of an index, except those without the key. */
export interface OrderedRows {
  /** The key's value. */
  readonly key: Sql
  readonly from: Sql
  readonly where: Sql
}

/** Each resource once: by the entry that counts for it. */
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

/** What an index says of the entries in it, in its own words, as SQLite wants it. */
const PART: Readonly<Record<EntryField, Sql>> = {
  value: sql`1`,
  text: sql`1`,
  low: sql`coalesce(e.low, e.high) IS NOT NULL`,
  high: sql`1`,
}
