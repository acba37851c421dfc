import type { Position } from '@fhir-ops/sql'
import type { SearchQuery, SortKey } from 'fhir-ops/storage'
import { conjuncts } from './condition.js'
import type { Executor } from '../database/database.js'
import { idsWhere, meets } from './ids-sql.js'
import {
  isCurrent,
  isOneOf,
  matchesSql,
  pageSql,
  type Page,
  longTexts,
  rowsInOrder,
  sortColumns,
  type OrderedRows,
  type Others,
} from './page-sql.js'
import { numberAt, sql, type Row, type Sql } from '../database/sql.js'

/** A page to be found along an index. */
export interface InTurn extends Page {
  readonly position: Position | undefined
  /** A result with at most this number of resources is small. */
  readonly few: number
}

/** With more matches than this times `few`, it is worth reading further along the first sort key to fill a page, instead of sorting all matches. */
const MANY = 10
/** With fewer matches, this fraction of their number is first read along the index. An attempt without success took this fraction of the sorting time. */
const SHARE = 4
/** Number of rows, as a multiple of `few`, that are read first: all matches may be far away, such as those of a past year if the latest come first. */
const NEAR = 5
/** With more matches than this times `few`, sorting takes longer than reading on. */
const TOO_MANY_TO_SORT = 100

/** Returns a page of resources that meet one condition, along the ids; `undefined` if too few are nearby. */
export async function rowsAlongIds(
  db: Executor,
  query: SearchQuery,
  { position, few, ...page }: InTurn,
): Promise<readonly Row[] | undefined> {
  const { type, where } = query
  // '~' is greater than every id and used if there are no more rows.
  const edge = sql`coalesce((SELECT id FROM fhir_resource WHERE type = ${type} AND id > ${position?.id ?? ''} ORDER BY id LIMIT 1 OFFSET ${near(few)}), '~')`
  const found = matchesSql(query, sql`${isCurrent(type)} AND r.id <= ${edge} AND ${meets(type, where)}`)
  const rows = await db.rows(pageSql(query, { ...page, found, filled: 0 }))
  return rows.length === page.limit ? rows : undefined
}

/**
 * Returns a page along an index in the order of the first sort key and, at its end, among the resources without that key. `undefined` if few resources
 * match, if too few are nearby and the matches are not too many to sort, or if the index does not have the complete order.
 */
export async function rowsInTurn(
  db: Executor,
  query: SearchQuery,
  { position, few, ...page }: InTurn,
): Promise<readonly Row[] | undefined> {
  const [first] = query.sort ?? []
  if (first === undefined) return undefined
  const ordered = rowsInOrder(query.type, first)
  const start = await outlook(db, query, { first, ordered, position, few })
  if (!start.isWorthwhile) return undefined
  if (start.edge === undefined || position?.keys[0] === null) return rowsToTheEnd(db, query, { ...page, ordered, position })
  const nearby = inTurnSql(query, ordered, { position, edge: start.edge })
  const rows = await db.rows(pageSql(query, { ...page, found: nearby, filled: 1 }))
  if (rows.length === page.limit) return rows
  return (await areMoreThan(db, query, few * TOO_MANY_TO_SORT)) ? rowsToTheEnd(db, query, { ...page, ordered, position }) : undefined
}

interface ToTheEnd extends Page {
  readonly ordered: OrderedRows
  readonly position: Position | undefined
}

async function rowsToTheEnd(db: Executor, query: SearchQuery, { ordered, position, ...page }: ToTheEnd): Promise<readonly Row[]> {
  const others = ordered.others && othersSql(query, ordered.others)
  const pageOut = async (found: Sql, filled: number): Promise<readonly Row[]> => db.rows(pageSql(query, { ...page, found, filled }))
  if (position?.keys[0] === null) return others === undefined ? [] : pageOut(others, 0)
  const inTurn = inTurnSql(query, ordered, { position })
  const rows = await pageOut(inTurn, 1)
  return rows.length === page.limit || others === undefined ? rows : pageOut(sql`${inTurn} UNION ALL ${others}`, 0)
}

function near(few: number): number {
  return Math.max(0, few * NEAR)
}

interface Stretch {
  readonly position: Position | undefined
  /** The last key of the range, as text; no end if absent. */
  readonly edge?: string
}

/** Selects the matches that have the first sort key, from a position on. */
function inTurnSql(query: SearchQuery, rows: OrderedRows, { position, edge }: Stretch): Sql {
  const end = edge === undefined ? sql`TRUE` : sql`${rows.key} ${rows.backwards} ${edge}`
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, rows.key)} FROM ${rows.from}
    WHERE ${rows.where} AND ${boundSql(query, rows, position)} AND ${end} AND ${meets(query.type, query.where)}`
}

/** The index is ordered by the key, so its bound comes first; `after` decides among equal keys, unless they are in the order of ids. */
function boundSql({ sort = [] }: SearchQuery, { key, onwards, others }: OrderedRows, position: Position | undefined): Sql {
  const value = position?.keys[0]
  if (position === undefined || value === undefined) return sql`TRUE`
  const [first, second] = sort
  const isInOrder = others !== undefined && second === undefined && first?.descending === false
  return isInOrder ? sql`(${key}, e.id) > (${value}, ${position.id})` : sql`${key} ${onwards} ${value}`
}

/** Selects the matches without the first sort key. */
function othersSql(query: SearchQuery, { except, key }: Others): Sql {
  return matchesSql(query, isOneOf(query.type, sql`SELECT id FROM (${idsWhere(query)}) AS ids EXCEPT (${except})`), key)
}

interface Asked {
  readonly first: SortKey
  readonly ordered: OrderedRows
  readonly position: Position | undefined
  readonly few: number
}

interface Outlook {
  readonly isWorthwhile: boolean
  /** Key of the last nearby row, as text; absent if there are fewer rows. */
  readonly edge?: string
}

/** Estimates whether reading along an index is worthwhile. */
async function outlook(db: Executor, query: SearchQuery, { first, ordered, position, few }: Asked): Promise<Outlook> {
  const more = Math.max(0, few * MANY)
  const { key, all, direction } = ordered
  const reach = sql`SELECT CASE WHEN count > ${more} THEN ${near(few)} ELSE count / ${SHARE} END FROM counted`
  // If everything matches, so does everything nearby.
  const edge =
    conjuncts(query.where).length === 0
      ? sql`NULL`
      : sql`SELECT ${key}::text FROM ${all} AND ${boundSql(query, ordered, position)} ORDER BY ${key} ${direction} LIMIT 1 OFFSET (${reach})`
  const [row] = await db.rows(
    sql`WITH counted AS MATERIALIZED (${countUpTo(query, more)})
      SELECT (SELECT count FROM counted) AS count, EXISTS (${longTexts(query.type, first)}) AS long, (${edge}) AS edge`,
  )
  const isWorthwhile = numberAt(row ?? {}, 'count') > few && row?.['long'] === false
  return { isWorthwhile, ...(typeof row?.['edge'] === 'string' && { edge: row['edge'] }) }
}

async function areMoreThan(db: Executor, query: SearchQuery, most: number): Promise<boolean> {
  const [row] = await db.rows(countUpTo(query, most))
  return numberAt(row ?? {}, 'count') > most
}

/** Counts matches, up to `most` + 1. */
function countUpTo(query: SearchQuery, most: number): Sql {
  return sql`SELECT count(*) AS count FROM (SELECT 1 FROM (${idsWhere(query)}) AS ids LIMIT ${Math.max(0, most) + 1}) AS counted`
}
