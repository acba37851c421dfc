import { cursorOf, isAfter, orderTerms, readCursor, type KeyValue } from '@fhir-ops/sql'
import type { SearchPage, SearchQuery } from 'fhir-ops/storage'
import { matches } from './condition-sql.js'
import type { Executor } from './database.js'
import { resourceOf } from './resource-row.js'
import { numberAt, textAt, type Row } from './row.js'
import { sortColumns } from './sort-sql.js'
import { sql, type Sql } from './sql.js'

const DEFAULT_PAGE = 500
const MAX_PAGE = 10_000
/** Bytes of text after which a page ends. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024

/** One page of the matches of a query, in one statement, so that it shows one state of the database. */
export async function searchPage(db: Executor, query: SearchQuery): Promise<SearchPage> {
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const found = await db.rows(pageSql(query, limit + 1))
  const rows = found.slice(0, limit).filter((row) => row['text'] !== null)
  const items = rows.map((row) => resourceOf(query.type, row))
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { items } : { items, next: cursorAt(last, query) }
}

/** Rows in order. Those behind the first that make a long page are there without their text. */
function pageSql(query: SearchQuery, limit: number): Sql {
  const after = query.after === undefined ? sql`TRUE` : isAfter(query, readCursor(query.after, query))
  const order = orderTerms(query)
  const page = sql`SELECT * FROM (${foundSql(query)}) AS found WHERE ${after} ORDER BY ${order} LIMIT ${limit}`
  const sizes = sql`SELECT *, sum(octet_length(text)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(text) AS bytes_before`
  return sql`SELECT *, CASE WHEN bytes_before <= ${MAX_PAGE_BYTES} THEN text END AS text FROM (${sizes} FROM (${page}) AS page) AS sized ORDER BY ${order}`
}

function foundSql(query: SearchQuery): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query)} FROM fhir_resource r WHERE ${matches(query)}`
}

function cursorAt(row: Row, { sort = [] }: SearchQuery): string {
  const keys = sort.map(({ field }, index): KeyValue => {
    const column = `s${index}`
    if (row[column] === null) return null
    return field === 'low' || field === 'high' || field === 'lastUpdated' ? numberAt(row, column) : textAt(row, column)
  })
  return cursorOf({ id: textAt(row, 'id'), keys })
}
