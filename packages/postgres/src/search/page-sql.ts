import { COLUMN, joined, MAX_PAGE_TEXT, orderTerms, sortColumn } from '@fhir-ops/sql'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { literal, sql, type Sql } from '../database/sql.js'
import { wholeText } from './condition.js'

/** The part of the matches on a page. */
export interface Page {
  /** Condition for rows after the previous page. */
  readonly after: Sql
  readonly limit: number
  /** Texts of at least this number of bytes are omitted. */
  readonly textBelow: number
}

/** The rows from which a page is taken. */
interface Found extends Page {
  /** Rows with their sort columns. */
  readonly found: Sql
  /** Number of leading sort columns that are never null. */
  readonly filled: number
}

/** Selects rows in order. Rows after the first that exceed the page size do not fit. */
export function pageSql(query: SearchQuery, { after, limit, textBelow, found, filled }: Found): Sql {
  const order = orderTerms(query, filled)
  const page = sql`SELECT * FROM (${found}) AS found WHERE ${after} ORDER BY ${order} LIMIT ${literal(limit)}`
  const sized = sql`SELECT *, sum(octet_length(text)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(text) AS bytes_before FROM (${page}) AS page`
  const keys = joined(
    (query.sort ?? []).map((_, index) => sql`, ${sortColumn(index)}`),
    '',
  )
  const fits = sql`bytes_before <= ${literal(query.maxBytes ?? MAX_PAGE_TEXT)}`
  const text = sql`CASE WHEN ${fits} AND octet_length(text) < ${literal(textBelow)} THEN text END AS text`
  return sql`SELECT id, version, updated, ${fits} AS fits, ${text}${keys} FROM (${sized}) AS sized ORDER BY ${order}`
}

/**
 * Selects the rows `r` that match, with their sort columns.
 *
 * @param firstKey Expression for the first sort key of all rows, if available.
 */
export function matchesSql(query: SearchQuery, which: Sql, firstKey?: Sql): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, firstKey)} FROM fhir_resource r WHERE ${which}`
}

/** IS TRUE hides from the planner that the index by time is usable: it has all resources of the type, and may be chosen without statistics. */
export function isOneOf(type: string, ids: Sql): Sql {
  return sql`r.type = ${type} AND r.id = ANY (ARRAY(${ids})) AND (r.text IS NOT NULL) IS TRUE`
}

/** Condition that row `r` is a current resource of the type. */
export function isCurrent(type: string): Sql {
  return sql`r.type = ${type} AND r.text IS NOT NULL`
}

/**
 * The expressions by which a query sorts, for the resource `r`, named as sort columns.
 *
 * @param first Expression for the first of them, if available.
 */
export function sortColumns({ type, sort = [] }: SearchQuery, first?: Sql): Sql {
  return joined(
    sort.map((key, index) => sql`, ${index === 0 && first !== undefined ? first : sortExpression(type, key)} AS ${sortColumn(index)}`),
    '',
  )
}

function sortExpression(type: string, { param, field, descending }: SortKey): Sql {
  if (field === 'id') return sql`r.id`
  if (field === 'lastUpdated') return sql`r.updated`
  const value = field === 'low' || field === 'high' ? sql`e0.${COLUMN[field]}` : wholeText(sql`e0`, field)
  const best = descending ? sql`max(${value})` : sql`min(${value})`
  // OFFSET as in `meets`: an index by parameter would read all its entries for every resource.
  const own = sql`SELECT * FROM fhir_entry WHERE type = ${type} AND id = r.id OFFSET 0`
  return sql`(SELECT ${best} FROM (${own}) AS e0 WHERE e0.param = ${param})`
}

const SQL_TYPE: Readonly<Record<'low' | 'high' | 'value' | 'text', Sql>> = {
  low: sql`double precision`,
  high: sql`double precision`,
  value: sql`text`,
  text: sql`text`,
}

/** Source of the current rows `r` of a type in the order of a sort key, from an index. */
export interface OrderedRows {
  /** Value of the key. */
  readonly key: Sql
  /** Operator that compares the key of a row with that of an earlier row or its own. */
  readonly onwards: Sql
  /** Operator that compares the key of a row with that of a later row or its own. */
  readonly backwards: Sql
  /** `ASC` or `DESC`. */
  readonly direction: Sql
  /** FROM and WHERE for everything in the index: a resource may occur several times. */
  readonly all: Sql
  readonly from: Sql
  readonly where: Sql
  /** Rows without the key, which come last; absent if all have it. */
  readonly others?: Others
}

/** Resources without a key. */
export interface Others {
  /** Selects the ids of all resources with the key. */
  readonly except: Sql
  /** Value of the key for these resources. */
  readonly key: Sql
}

const ASCENDING = { onwards: sql`>=`, backwards: sql`<=`, direction: sql`ASC` } as const
const DESCENDING = { onwards: sql`<=`, backwards: sql`>=`, direction: sql`DESC` } as const

/** Returns each resource once, with the entry that determines its position. For long texts, an index has only the beginning. */
export function rowsInOrder(type: string, { param, field, descending }: SortKey): OrderedRows {
  const where = sql`r.type = ${type} AND r.text IS NOT NULL`
  const order = descending ? DESCENDING : ASCENDING
  const all = sql`fhir_resource r WHERE ${where}`
  if (field === 'lastUpdated') return { key: sql`r.updated`, ...order, all, from: sql`fhir_resource r`, where }
  if (field === 'id') return { key: sql`r.id`, ...order, all, from: sql`fhir_resource r`, where }
  const column = COLUMN[field]
  const [key, other] = [sql`e.${column}`, sql`o.${column}`]
  // OFFSET prevents the planner from searching better entries of other resources.
  const own = sql`SELECT * FROM fhir_entry WHERE type = e.type AND id = e.id AND param = e.param OFFSET 0`
  const better = sql`${other} ${descending ? sql`>` : sql`<`} ${key} OR (${other} = ${key} AND o.n < e.n)`
  const ofParam = sql`e.type = ${type} AND e.param = ${param} AND ${key} IS NOT NULL`
  return {
    key,
    ...order,
    all: sql`fhir_entry e WHERE ${ofParam}`,
    from: sql`fhir_entry e JOIN fhir_resource r ON r.type = e.type AND r.id = e.id`,
    where: sql`${where} AND ${ofParam} AND NOT EXISTS (SELECT 1 FROM (${own}) AS o WHERE ${better})`,
    others: {
      except: sql`SELECT id FROM fhir_entry WHERE type = ${type} AND param = ${param} AND ${column} IS NOT NULL`,
      key: sql`NULL::${SQL_TYPE[field]}`,
    },
  }
}

/** Selects entries of the key's parameter whose text is truncated in the index. */
export function longTexts(type: string, { param }: SortKey): Sql {
  return sql`SELECT 1 FROM fhir_entry WHERE type = ${type} AND param = ${param} AND (whole_value IS NOT NULL OR whole_text IS NOT NULL)`
}
