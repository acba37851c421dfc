import { joined, sortColumn } from '@fhir-ops/sql'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { entriesOf, paramKey } from './entry-sql.js'
import { sql, type Sql } from '../database/sql.js'

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
  const column = SORT_COLUMNS[field]
  const best = descending ? sql`max(${column})` : sql`min(${column})`
  return sql`(SELECT ${best} FROM (${entriesOf(sql`r.key`, paramKey(type, param))}))`
}

type EntryField = Exclude<SortKey['field'], 'lastUpdated' | 'id'>

const SORT_COLUMNS: Readonly<Record<EntryField, Sql>> = {
  value: sql`value`,
  text: sql`text`,
  low: sql`low`,
  high: sql`high`,
}

/** Where the rows `r` of a type come in the order of a sort key, out of an index, but for those without the key. */
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
  const column = SORT_COLUMNS[field]
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
