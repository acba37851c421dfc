import { cursorOf, joined, pageLimit, readCursor, resourceOf } from '@fhir-ops/sql'
import { SCAN_ITEM_BYTES, SCAN_PAGE_BYTES, scanItemTooLong, type ScanPage, type ScanQuery } from 'fhir-ops/storage'
import type { Referring, ScanItem } from 'fhir-ops/internal/storage'
import type { Executor } from '../database/database.js'
import { numberAt, textAt, sql, type Row, type Sql } from '../database/sql.js'
import { resourceRow } from '../resources/resource-row.js'
import { meets } from './ids-sql.js'
import { isCurrent } from './page-sql.js'

/** Reads a page of a scan, in the order of ids, with one statement, so that it shows one state of the database. */
export async function scanPage(db: Executor, query: ScanQuery): Promise<ScanPage> {
  const limit = pageLimit(query)
  const rows = await db.rows(pageSql(query, limit))
  const items: { readonly stored: ScanItem['stored']; readonly referring: ScanItem['referring'][number][] }[] = []
  for (const row of rows) {
    if (row['fits'] !== true) continue
    if (row['is_own'] === true) {
      if (numberAt(row, 'bytes') > SCAN_ITEM_BYTES) throw scanItemTooLong({ type: query.type, id: textAt(row, 'scanned') })
      items.push({ stored: storedIn(row), referring: [] })
    } else {
      items.at(-1)?.referring.push(storedIn(row))
    }
  }
  const last = items.at(-1)?.stored
  const hasMore = rows.some((row) => row['fits'] !== true)
  return { items, ...(last !== undefined && hasMore && { next: cursorOf({ id: last.id, keys: [] }) }) }
}

function storedIn(row: Row): ScanItem['stored'] {
  return resourceOf(textAt(row, 'type'), resourceRow(row))
}

/**
 * Selects a row for each resource of the page and, after it, a row for each resource that refers to it; of those that do not fit, only the first. Long
 * texts are not read until it is known that they fit.
 */
function pageSql(query: ScanQuery, limit: number): Sql {
  const { type, where, after, referring = [], maxBytes = SCAN_PAGE_BYTES } = query
  const behind = after === undefined ? sql`TRUE` : sql`r.id > ${readCursor(after, {}).id}`
  const scanned = sql`SELECT r.id FROM fhir_resource r WHERE ${isCurrent(type)} AND ${behind} AND ${meets(type, where)} ORDER BY r.id LIMIT ${limit + 1}`
  const arms = [
    sql`SELECT s.id AS scanned, TRUE AS is_own, r.type, r.id, r.version, r.updated, r.text FROM scanned s, LATERAL (${resourceAt(sql`${type}`, sql`s.id`)}) AS r`,
    ...referring.filter(({ params }) => params.length > 0).map((source) => referringSql(source, type)),
  ]
  return sql`WITH scanned AS MATERIALIZED (${scanned}), found AS MATERIALIZED (${joined(arms, ' UNION ALL ')}),
    item AS (SELECT scanned, sum(octet_length(text)) AS bytes, row_number() OVER (ORDER BY scanned) AS place FROM found GROUP BY scanned),
    sized AS (SELECT *, place <= ${limit} AND sum(bytes) OVER (ORDER BY scanned) - bytes <= ${maxBytes} AS fits FROM item)
    SELECT f.scanned, f.is_own, f.type, f.id, f.version, f.updated, s.fits, s.bytes::float8 AS bytes,
      CASE WHEN s.fits AND s.bytes <= ${SCAN_ITEM_BYTES} THEN f.text ELSE '' END AS text
    FROM found f JOIN sized s ON s.scanned = f.scanned WHERE s.fits OR f.is_own ORDER BY f.scanned, f.is_own DESC, f.type, f.id`
}

/** OFFSET prevents the planner from joining all resources of the type. */
function resourceAt(type: Sql, id: Sql): Sql {
  return sql`SELECT * FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL OFFSET 0`
}

/** Looks up the references to each resource by its id; a resource may refer to it through several parameters. */
function referringSql({ type, where, params }: Referring, target: string): Sql {
  const entries = sql`SELECT DISTINCT e.id FROM fhir_entry e WHERE e.type = ${type} AND e.param = ANY (${params}) AND e.value = s.id AND e.system = ${target} OFFSET 0`
  return sql`SELECT s.id, FALSE, r.type, r.id, r.version, r.updated, r.text FROM scanned s, LATERAL (${entries}) AS e, LATERAL (${resourceAt(sql`${type}`, sql`e.id`)}) AS r
    WHERE ${meets(type, where)}`
}
