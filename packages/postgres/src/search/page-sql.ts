import { joined, orderTerms, sortColumn } from '@fhir-ops/sql'
import type { SearchQuery } from 'fhir-ops/storage'
import { sortColumns } from './sort-sql.js'
import { literal, sql, type Sql } from '../database/sql.js'

/** Bytes of text after which a page ends, where the query has no bound of its own. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** Which part of the matches a page is. */
export interface Page {
  /** What comes after the page before. */
  readonly after: Sql
  readonly limit: number
  /** Texts of so many bytes or more are left out. */
  readonly textBelow: number
}

/** What a page is taken from. */
export interface Found extends Page {
  /** Rows with their sort columns. */
  readonly found: Sql
  /** So many of the first sort columns are never null. */
  readonly filled: number
}

/** Rows in order. Those behind the first that make a long page do not fit. */
export function pageSql(query: SearchQuery, { after, limit, textBelow, found, filled }: Found): Sql {
  const order = orderTerms(query, filled)
  const page = sql`SELECT * FROM (${found}) AS found WHERE ${after} ORDER BY ${order} LIMIT ${literal(limit)}`
  const sized = sql`SELECT *, sum(octet_length(text)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(text) AS bytes_before FROM (${page}) AS page`
  const keys = joined(
    (query.sort ?? []).map((_, index) => sql`, ${sortColumn(index)}`),
    '',
  )
  const fits = sql`bytes_before <= ${literal(query.maxBytes ?? MAX_PAGE_BYTES)}`
  const text = sql`CASE WHEN ${fits} AND octet_length(text) < ${literal(textBelow)} THEN text END AS text`
  return sql`SELECT id, version, updated, ${fits} AS fits, ${text}${keys} FROM (${sized}) AS sized ORDER BY ${order}`
}

/**
 * The rows `r` that match, with their sort columns.
 *
 * @param firstKey What the first sort key of all of them is, where it is available.
 */
export function matchesSql(query: SearchQuery, which: Sql, firstKey?: Sql): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, firstKey)} FROM fhir_resource r WHERE ${which}`
}

/** IS TRUE hides that the index by time would do, which has all resources of the type: without statistics the planner may take it. */
export function isOneOf(type: string, ids: Sql): Sql {
  return sql`r.type = ${type} AND r.id = ANY (ARRAY(${ids})) AND (r.text IS NOT NULL) IS TRUE`
}

/** Whether the row `r` is of a resource of the type that is there. */
export function isCurrent(type: string): Sql {
  return sql`r.type = ${type} AND r.text IS NOT NULL`
}
