import { instantOf, joined, MAX_PAGE_TEXT, pageLimit, resourceOf } from '@fhir-ops/sql'
import {
  historyCursor,
  readHistoryCursor,
  versionNumber,
  type HistoryPage,
  type HistoryQuery,
  type ResourceHistory,
} from 'fhir-ops/storage'
import type { HistoryItem, HistoryPeriod, HistoryPosition } from 'fhir-ops/internal/storage'
import type { Executor } from '../database/database.js'
import type { Reading } from '../database/replicas.js'
import { resourceRow } from './resource-row.js'
import { numberAt, textAt, prepared, sql, type Row, type Sql } from '../database/sql.js'

/**
 * Creates the history over a database: the last version of an id is in the row of its resource, earlier ones are in a separate table.
 *
 * @param reading Where pages are read.
 */
export function historyIn(db: Executor, reading: Reading): ResourceHistory {
  return {
    async version(type, id, versionId) {
      const version = versionNumber(versionId)
      if (version === undefined) return undefined
      const which = sql`type = ${type} AND id = ${id} AND version = ${version}`
      const [row] = await db.rows(
        prepared('version', sql`SELECT v.*, ${CREATED} FROM (${eachOf(PARTS, (part) => versionsIn(part, which))}) AS v`),
      )
      return row && versionOf(row)
    },
    page: async (query) => reading(async (executor) => readPage(executor, query)),
  }
}

/** True for the version in row `v` if it is a put that follows a deletion or nothing. */
const CREATED = sql`v.text IS NOT NULL AND (v.version = 1 OR EXISTS (SELECT 1 FROM fhir_version b
  WHERE b.type = v.type AND b.id = v.id AND b.version = v.version - 1 AND b.text IS NULL)) AS created`

const ORDER = sql`ORDER BY updated DESC, type, id, version DESC`

/** Parts that are indexed by time. */
const PARTS: readonly (readonly [table: Sql, part: Sql])[] = [
  [sql`fhir_resource`, sql`text IS NOT NULL`],
  [sql`fhir_resource`, sql`text IS NULL`],
  [sql`fhir_version`, sql`TRUE`],
]

async function readPage(db: Executor, query: HistoryQuery): Promise<HistoryPage> {
  const limit = pageLimit(query)
  const found = await db.rows(pageSql(query, limit + 1))
  const rows = found.slice(0, limit).filter((row) => row['whole'] === true)
  const items = rows.map(versionOf)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { items } : { items, next: historyCursor(positionOf(last)) }
}

/** Selects the newest versions of each type and part. Rows after the first that exceed the page size have no text. */
function pageSql({ types, id, since, at, after, maxBytes = MAX_PAGE_TEXT }: HistoryQuery, limit: number): Sql {
  const which = joined(
    [
      sql`type = t.type`,
      ...(id === undefined ? [] : [sql`id = ${id}`]),
      ...(since === undefined ? [] : [sql`updated >= ${since}`]),
      ...(after === undefined ? [] : [isBehind(readHistoryCursor(after))]),
    ],
    ' AND ',
  )
  const parts = at === undefined ? PARTS : partsCurrentIn(at)
  const newest = eachOf(parts, (part) => sql`(${versionsIn(part, which)} ${ORDER} LIMIT ${limit})`)
  const found = sql`SELECT n.* FROM unnest(${[...new Set(types)]}::text[]) AS t (type) CROSS JOIN LATERAL (${newest}) AS n ${ORDER} LIMIT ${limit}`
  const sized = sql`SELECT *, sum(coalesce(octet_length(text), 0)) OVER (${ORDER} ROWS UNBOUNDED PRECEDING) - coalesce(octet_length(text), 0) AS bytes_before
    FROM (${found}) AS found`
  const isWhole = sql`v.bytes_before <= ${maxBytes}`
  return sql`SELECT v.type, v.id, v.version, v.updated, CASE WHEN ${isWhole} THEN v.text END AS text, ${isWhole} AS whole, ${CREATED}
    FROM (${sized}) AS v ORDER BY v.updated DESC, v.type, v.id, v.version DESC`
}

type Part = (typeof PARTS)[number]

function eachOf(parts: readonly Part[], selectFrom: (part: Part) => Sql): Sql {
  return joined(parts.map(selectFrom), ' UNION ALL ')
}

function versionsIn([table, part]: Part, which: Sql): Sql {
  return sql`SELECT type, id, version, updated, text FROM ${table} AS v WHERE ${part} AND ${which}`
}

/** Selects versions that were current in the period. The last version of an id has not been replaced; for an earlier one, the time of the next is looked up. */
function partsCurrentIn({ from, to }: HistoryPeriod): readonly Part[] {
  const isThere = sql`text IS NOT NULL AND updated <= ${to}`
  const ofThis = sql`n.type = v.type AND n.id = v.id`
  const next = sql`SELECT updated FROM fhir_version n WHERE ${ofThis} AND n.version > v.version ORDER BY n.version LIMIT 1`
  const replaced = sql`coalesce((${next}), (SELECT updated FROM fhir_resource n WHERE ${ofThis}))`
  return [
    [sql`fhir_resource`, isThere],
    [sql`fhir_version`, sql`${isThere} AND ${replaced} > ${from}`],
  ]
}

function isBehind({ updated, type, id, version }: HistoryPosition): Sql {
  return sql`updated <= ${updated} AND (updated < ${updated} OR (type, id) > (${type}, ${id}) OR ((type, id) = (${type}, ${id}) AND version < ${version}))`
}

function positionOf(row: Row): HistoryPosition {
  return { type: textAt(row, 'type'), id: textAt(row, 'id'), version: numberAt(row, 'version'), updated: numberAt(row, 'updated') }
}

function versionOf(row: Row): HistoryItem {
  const { type, id, version, updated } = positionOf(row)
  const stamp = { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: row['created'] === true }
  return row['text'] === null ? stamp : { ...stamp, stored: resourceOf(type, resourceRow(row)) }
}
