import {
  createResourceCache,
  cursorOf,
  isAfter,
  joined,
  orderTerms,
  readCursor,
  sortColumn,
  type KeyValue,
  type Position,
  type ResourceCache,
} from '@fhir-ops/sql'
import type { Condition, SearchPage, SearchQuery, SortKey } from 'fhir-ops/storage'
import { conjuncts } from './condition.js'
import type { Executor } from './database.js'
import { idsWhere, repeatsIds } from './ids-sql.js'
import { meets } from './meets-sql.js'
import { FEW, narrowest } from './narrowest.js'
import { LARGE, withLargeTexts } from './large-texts.js'
import { numberAt, textAt, type Row } from './row.js'
import { longTexts, rowsInOrder, sortColumns, type OrderedRows, type Others } from './sort-sql.js'
import { sql, type Sql } from './sql.js'

const DEFAULT_PAGE = 500
const MAX_PAGE = 10_000
/** Bytes of text after which a page ends. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024
/** More bytes than a text has. */
const MAX_TEXT = 2 ** 31 - 1
const NOTHING = createResourceCache({ maxCharacters: 0 })

/** How a page is looked for. */
export interface Search {
  /** So many resources are looked at one by one. Default 1,000. */
  readonly few?: number
  /** Large resources that need not be read again. */
  readonly cache?: ResourceCache
}

/** One page of the matches of a query, of one state of the database. */
export async function searchPage(db: Executor, query: SearchQuery, { few = FEW, cache }: Search = {}): Promise<SearchPage> {
  const { rows, next } = await pageOf(db, query, { few, textBelow: cache === undefined ? MAX_TEXT : LARGE })
  const items = await withLargeTexts(db, rows, { type: query.type, cache: cache ?? NOTHING })
  if (items === undefined) return searchPage(db, query, { few })
  return { items, ...(next !== undefined && { next }) }
}

interface Reading {
  readonly few: number
  /** Texts of so many bytes or more are left out. */
  readonly textBelow: number
}

/** It comes from one statement, so that it shows one state of the database. */
async function pageOf(db: Executor, query: SearchQuery, { few, textBelow }: Reading): Promise<{ rows: readonly Row[]; next?: string }> {
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const position = query.after === undefined ? undefined : readCursor(query.after, query)
  const page = { after: position === undefined ? sql`TRUE` : isAfter(query, position), limit: limit + 1, textBelow }
  const narrow = await narrowest(db, query, few)
  const inTurn = narrow === undefined ? await rowsInTurn(db, query, { ...page, position, few }) : undefined
  const found = inTurn ?? (await db.rows(pageSql(query, { ...page, found: matchesSql(query, matches(query, page, narrow)), filled: 0 })))
  const rows = found.slice(0, limit).filter((row) => row['fits'] === true)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorAt(last, query) }
}

/** The exact number of matches; the text of no resource is read. */
export async function countMatches(db: Executor, query: SearchQuery, few: number = FEW): Promise<number> {
  const narrow = conjuncts(query.where).length > 1 ? await narrowest(db, query, few) : undefined
  const counted = narrow === undefined ? distinctIds(query) : sql`SELECT 1 FROM fhir_resource r WHERE ${fewMatches(query, narrow)}`
  const [row] = await db.rows(sql`SELECT count(*) AS count FROM (${counted}) AS matches`)
  return numberAt(row ?? {}, 'count')
}

function distinctIds(query: SearchQuery): Sql {
  return repeatsIds(query.where) ? sql`SELECT DISTINCT id FROM (${idsWhere(query)}) AS ids` : idsWhere(query)
}

interface Page {
  /** What comes after the page before. */
  readonly after: Sql
  readonly limit: number
  /** Texts of so many bytes or more are left out. */
  readonly textBelow: number
}

/**
 * Which rows `r` match. Among few that meet one condition, the others are asked of each. One condition that many meet is asked along
 * the ids, as a page comes soon. Several that many meet are put together as sets, as few may meet them all.
 */
function matches(query: SearchQuery, { after, limit }: Page, narrow: Condition | undefined): Sql {
  if (narrow !== undefined) return fewMatches(query, narrow)
  const sorted = (query.sort ?? []).length > 0
  if (!sorted && conjuncts(query.where).length < 2) return sql`${isCurrent(query.type)} AND ${meets(query.type, query.where)}`
  if (sorted) return isOneOf(query.type, idsWhere(query))
  return isOneOf(query.type, sql`SELECT id FROM (${distinctIds(query)}) AS ids WHERE ${after} ORDER BY id LIMIT ${limit}`)
}

function fewMatches({ type, where }: SearchQuery, narrow: Condition): Sql {
  const others: Condition = { kind: 'and', conditions: conjuncts(where).filter((condition) => condition !== narrow) }
  return sql`${isOneOf(type, idsWhere({ type, where: narrow }))} AND ${meets(type, others)}`
}

/** IS TRUE hides that the index by time would do, which has all resources of the type: without statistics the planner may take it. */
function isOneOf(type: string, ids: Sql): Sql {
  return sql`r.type = ${type} AND r.id = ANY (ARRAY(${ids})) AND (r.text IS NOT NULL) IS TRUE`
}

function isCurrent(type: string): Sql {
  return sql`r.type = ${type} AND r.text IS NOT NULL`
}

interface InTurn extends Page {
  readonly position: Position | undefined
  readonly few: number
}

/** With more matches than this times `few` a page is looked for in the order of the first sort key, where it then comes soon. */
const MANY = 10

/**
 * A page along an index that has the order of the first sort key, and behind its end among the resources without that key. `undefined`
 * where few match, or the index does not have the whole order.
 */
async function rowsInTurn(db: Executor, query: SearchQuery, { position, few, ...page }: InTurn): Promise<readonly Row[] | undefined> {
  const [first] = query.sort ?? []
  if (first === undefined || !(await isWorthwhile(db, query, { first, more: few * MANY }))) return undefined
  const ordered = rowsInOrder(query.type, first)
  const others = ordered.others && othersSql(query, ordered.others)
  const pageOut = async (found: Sql, filled: number): Promise<readonly Row[]> => db.rows(pageSql(query, { ...page, found, filled }))
  if (position?.keys[0] === null) return others === undefined ? [] : pageOut(others, 0)
  const inTurn = inTurnSql(query, ordered, position)
  const rows = await pageOut(inTurn, 1)
  return rows.length === page.limit || others === undefined ? rows : pageOut(sql`${inTurn} UNION ALL ${others}`, 0)
}

/** The matches with the first sort key, from a position on. */
function inTurnSql(query: SearchQuery, rows: OrderedRows, position: Position | undefined): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, rows.key)} FROM ${rows.from}
    WHERE ${rows.where} AND ${boundSql(query, rows, position)} AND ${meets(query.type, query.where)}`
}

/** The bound on the key is what the index begins with; `after` decides among equal ones, where they are not in the order of ids. */
function boundSql({ sort = [] }: SearchQuery, { key, onwards, others }: OrderedRows, position: Position | undefined): Sql {
  const value = position?.keys[0]
  if (position === undefined || value === undefined) return sql`TRUE`
  const [first, second] = sort
  const isInOrder = others !== undefined && second === undefined && first?.descending === false
  return isInOrder ? sql`(${key}, e.id) > (${value}, ${position.id})` : sql`${key} ${onwards} ${value}`
}

/** The matches without the first sort key. */
function othersSql(query: SearchQuery, { except, key }: Others): Sql {
  return matchesSql(query, isOneOf(query.type, sql`SELECT id FROM (${idsWhere(query)}) AS ids EXCEPT (${except})`), key)
}

interface Worth {
  readonly first: SortKey
  /** So many matches are too few. */
  readonly more: number
}

async function isWorthwhile(db: Executor, query: SearchQuery, { first, more }: Worth): Promise<boolean> {
  const some = sql`SELECT 1 FROM (${idsWhere(query)}) AS ids LIMIT ${Math.max(0, more) + 1}`
  const [row] = await db.rows(
    sql`SELECT (SELECT count(*) FROM (${some}) AS few) AS count, EXISTS (${longTexts(query.type, first)}) AS long`,
  )
  return numberAt(row ?? {}, 'count') > more && row?.['long'] === false
}

/** @param firstKey What the first sort key of all of them is, where it is at hand. */
function matchesSql(query: SearchQuery, which: Sql, firstKey?: Sql): Sql {
  return sql`SELECT r.id, r.version, r.updated, r.text${sortColumns(query, firstKey)} FROM fhir_resource r WHERE ${which}`
}

interface Found extends Page {
  /** Rows with their sort columns. */
  readonly found: Sql
  /** So many of the first sort columns are never null. */
  readonly filled: number
}

/** Rows in order. Those behind the first that make a long page do not fit. */
function pageSql(query: SearchQuery, { after, limit, textBelow, found, filled }: Found): Sql {
  const order = orderTerms(query, filled)
  const page = sql`SELECT * FROM (${found}) AS found WHERE ${after} ORDER BY ${order} LIMIT ${limit}`
  const sized = sql`SELECT *, sum(octet_length(text)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(text) AS bytes_before FROM (${page}) AS page`
  const keys = joined(
    (query.sort ?? []).map((_, index) => sql`, ${sortColumn(index)}`),
    '',
  )
  const fits = sql`bytes_before <= ${MAX_PAGE_BYTES}`
  const text = sql`CASE WHEN ${fits} AND octet_length(text) < ${textBelow} THEN text END AS text`
  return sql`SELECT id, version, updated, ${fits} AS fits, ${text}${keys} FROM (${sized}) AS sized ORDER BY ${order}`
}

function cursorAt(row: Row, { sort = [] }: SearchQuery): string {
  const keys = sort.map(({ field }, index): KeyValue => {
    const column = `s${index}`
    if (row[column] === null) return null
    return field === 'low' || field === 'high' || field === 'lastUpdated' ? numberAt(row, column) : textAt(row, column)
  })
  return cursorOf({ id: textAt(row, 'id'), keys })
}
