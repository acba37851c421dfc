import { cursorOf, joined, pageLimit, readCursor, resourceOf } from '@fhir-ops/sql'
import type { Referring, ScanItem } from 'fhir-ops/internal/storage'
import { SCAN_ITEM_BYTES, SCAN_PAGE_BYTES, scanItemTooLong, type Condition, type ScanPage, type ScanQuery } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'
import { literal, numberAt, sql, textAt, type Row, type Sql } from '../database/sql.js'
import { resourceRow } from '../resources/resource-row.js'
import { conjuncts, entryTests } from './condition.js'
import { idsWhere, meets, isCurrent } from './page-sql.js'

/**
 * Up to this number of resources with a code, their ids are read and hashed for each page, which takes a third of the time of looking up the code of each
 * resource that refers to the page (bench `measures`). Hashing them takes less memory than `work_mem` is by default.
 */
const MOST_HASHED = 45_000
const HASHED_KB = 4_096

/**
 * Reads a page of a scan, in the order of ids, with one statement, so that it shows one state of the database.
 *
 * @param mostHashed Up to this number of resources that meet a condition, their ids are read instead of testing each resource.
 */
export async function scanPage(db: Executor, query: ScanQuery, mostHashed: number = MOST_HASHED): Promise<ScanPage> {
  const rows = await db.rows(scanPageSql(query, mostHashed))
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
export function scanPageSql(query: ScanQuery, mostHashed: number = MOST_HASHED): Sql {
  const { type, where, after, referring = [], maxBytes = SCAN_PAGE_BYTES } = query
  const limit = pageLimit(query)
  const behind = after === undefined ? sql`TRUE` : sql`r.id > ${readCursor(after, {}).id}`
  const scanned = sql`SELECT r.id FROM fhir_resource r WHERE ${isCurrent(type)} AND ${behind} AND ${meets(type, where)} ORDER BY r.id LIMIT ${limit + 1}`
  const sources = referring
    .filter(({ params }) => params.length > 0)
    .map((source, index) => referringSql(source, { target: type, index, mostHashed }))
  const arms = [
    sql`SELECT s.id AS scanned, TRUE AS is_own, r.type, r.id, r.version, r.updated, r.text FROM scanned s, LATERAL (${resourceAt(sql`${type}`, sql`s.id`)}) AS r`,
    ...sources.map(({ rows }) => rows),
  ]
  const steps = [
    sql`scanned AS MATERIALIZED (${scanned})`,
    sql`hashing AS MATERIALIZED (SELECT (SELECT setting FROM pg_settings WHERE name = 'work_mem')::bigint >= ${literal(HASHED_KB)} AS is_possible)`,
    ...sources.flatMap(({ sets }) => sets),
    sql`found AS MATERIALIZED (${joined(arms, ' UNION ALL ')})`,
    sql`item AS (SELECT scanned, sum(octet_length(text)) AS bytes, row_number() OVER (ORDER BY scanned) AS place FROM found GROUP BY scanned)`,
    sql`sized AS (SELECT *, place <= ${limit} AND sum(bytes) OVER (ORDER BY scanned) - bytes <= ${maxBytes} AS fits FROM item)`,
  ]
  return sql`WITH ${joined(steps, ', ')} SELECT f.scanned, f.is_own, f.type, f.id, f.version, f.updated, s.fits, s.bytes::float8 AS bytes,
      CASE WHEN s.fits AND s.bytes <= ${SCAN_ITEM_BYTES} THEN f.text ELSE '' END AS text
    FROM found f JOIN sized s ON s.scanned = f.scanned WHERE s.fits OR f.is_own ORDER BY f.scanned, f.is_own DESC, f.type, f.id`
}

/** OFFSET prevents the planner from joining all resources of the type. */
function resourceAt(type: Sql, id: Sql): Sql {
  return sql`SELECT * FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL OFFSET 0`
}

interface ReferredTo {
  /** Type of the resources that are referred to. */
  readonly target: string
  /** Index of the source in the query. */
  readonly index: number
  readonly mostHashed: number
}

interface ReferringSql {
  /** Queries of the statement, for its WITH. */
  readonly sets: readonly Sql[]
  readonly rows: Sql
}

/**
 * Looks up the references to each resource by its id; a resource may refer to it through several parameters. Conditions are tested on index entries, so only
 * the rows of resources that meet them are read.
 */
function referringSql({ type, where, params }: Referring, { target, index, mostHashed }: ReferredTo): ReferringSql {
  const sets: Sql[] = []
  const [codes, spans, others] = [0, 1, 2].map((rank) => conjuncts(where).filter((condition) => rankOf(condition) === rank))
  const tests = (codes ?? []).map((condition, at) => {
    const name = sql`met${literal(index)}_${literal(at)}`
    sets.push(...smallSet(name, { type, where: condition }, mostHashed))
    return sql`CASE WHEN (SELECT is_small FROM ${name}_size) THEN e.id IN (SELECT id FROM ${name}) ELSE ${meets(type, condition, ENTRY)} END`
  })
  for (const conditions of [spans ?? [], others ?? []])
    if (conditions.length > 0) tests.push(meets(type, { kind: 'and', conditions }, ENTRY))
  const entries = sql`SELECT DISTINCT e.id FROM fhir_entry e WHERE e.type = ${type} AND e.param = ANY (${params}) AND e.value = s.id AND e.system = ${target}
    AND ${inTurn(tests)} OFFSET 0`
  return {
    sets,
    rows: sql`SELECT s.id, FALSE, r.type, r.id, r.version, r.updated, r.text FROM scanned s, LATERAL (${entries}) AS e, LATERAL (${resourceAt(sql`${type}`, sql`e.id`)}) AS r`,
  }
}

/** The resource of the entry in row `e`. */
const ENTRY = { id: sql`e.id`, each: true }

/** Codes with their system come before dates, and these before codes alone, such as a status that most resources have. */
function rankOf(condition: Condition): 0 | 1 | 2 {
  const alternatives = entryTests(condition)?.any ?? []
  const has = (fields: readonly string[]): boolean =>
    alternatives.length > 0 && alternatives.every((all) => all.some(({ field }) => fields.includes(field)))
  if (has(['system'])) return has(['value']) ? 0 : 2
  return has(['low', 'high']) ? 1 : 2
}

/** A planner tests conditions in the order of its estimates; CASE keeps the given one. */
function inTurn(tests: readonly Sql[]): Sql {
  return tests.reduceRight((rest, test) => sql`CASE WHEN ${test} THEN ${rest} ELSE FALSE END`, sql`TRUE`)
}

/**
 * The ids that meet a condition, each alternative from the index alone, and whether they are few enough. With less memory, the planner would search them
 * from beginning to end for each resource, instead of hashing them.
 */
function smallSet(name: Sql, { type, where }: Pick<ScanQuery, 'type' | 'where'>, mostHashed: number): readonly Sql[] {
  const alternatives = conditionsOfAny(where).map((condition) => idsWhere({ type, where: condition }))
  const ids = sql`SELECT id FROM (${joined(alternatives, ' UNION ALL ')}) AS ids LIMIT ${literal(mostHashed + 1)}`
  const isSmall = sql`(SELECT is_possible FROM hashing) AND (SELECT count(*) FROM ${name}) <= ${literal(mostHashed)}`
  return [sql`${name} AS MATERIALIZED (${ids})`, sql`${name}_size AS MATERIALIZED (SELECT ${isSmall} AS is_small)`]
}

function conditionsOfAny(where: Condition): readonly Condition[] {
  return where.kind === 'or' ? where.conditions : [where]
}
