import {
  createResourceCache,
  cursorOf,
  isAfter,
  pageLimit,
  readCursor,
  joined,
  type KeyValue,
  type ResourceCache,
  type Position,
} from '@fhir-ops/sql'
import type { Condition, SearchPage, SearchQuery, SortKey } from 'fhir-ops/storage'
import { conjuncts, entryTests } from './condition.js'
import type { Executor } from '../database/database.js'
import {
  idsWhere,
  repeatsIds,
  meets,
  isCurrent,
  isOneOf,
  matchesSql,
  pageSql,
  longTexts,
  rowsInOrder,
  sortColumns,
  type Page,
  type OrderedRows,
  type Others,
} from './page-sql.js'
import { lookedUpCount, lookedUpPage } from './index-lookup.js'
import { LARGE, withLargeTexts } from '../resources/resource-row.js'
import { numberAt, textAt, sql, type Row, type Sql } from '../database/sql.js'

/** More bytes than any text has. */
const MAX_TEXT = 2 ** 31 - 1
const NOTHING = createResourceCache({ maxCharacters: 0 })

/** Options for finding a page. */
interface Search {
  /** Up to this number of resources, each is tested separately. Default 1,000. */
  readonly few?: number
  /** Large resources that are cached, so that they need not be read again. */
  readonly cache?: ResourceCache
}

/** Reads a page of the matches of a query, from one state of the database. */
export async function searchPage(db: Executor, query: SearchQuery, { few = FEW, cache }: Search = {}): Promise<SearchPage> {
  const { rows, next } = await pageOf(db, query, { few, textBelow: cache === undefined ? MAX_TEXT : LARGE })
  const items = await withLargeTexts(db, rows, { type: query.type, cache: cache ?? NOTHING })
  if (items === undefined) return searchPage(db, query, { few })
  return { items, ...(next !== undefined && { next }) }
}

interface Reading {
  readonly few: number
  /** Texts of at least this number of bytes are omitted. */
  readonly textBelow: number
}

/** Reads a page with one statement, so that it shows one state of the database. */
async function pageOf(db: Executor, query: SearchQuery, { few, textBelow }: Reading): Promise<{ rows: readonly Row[]; next?: string }> {
  const limit = pageLimit(query)
  const position = query.after === undefined ? undefined : readCursor(query.after, query)
  const page = { after: position === undefined ? sql`TRUE` : isAfter(query, position), limit: limit + 1, textBelow }
  const found = (await lookedUpPage(db, query, { ...page, position, few })) ?? (await searchedRows(db, query, { ...page, position, few }))
  const rows = found.slice(0, limit).filter((row) => row['fits'] === true)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorAt(last, query) }
}

/** Returns the rows of a page, after counting how many resources meet each condition. */
async function searchedRows(db: Executor, query: SearchQuery, { position, few, ...page }: InTurn): Promise<readonly Row[]> {
  const narrow = await narrowest(db, query, few)
  const near = narrow === undefined ? await rowsNear(db, query, { ...page, position, few }) : undefined
  return near ?? db.rows(pageSql(query, { ...page, found: matchesSql(query, matches(query, page, narrow)), filled: 0 }))
}

/** Tries to find a page near its beginning. Not for several conditions without a sort: each may have many matches, but few in common, and none near. */
async function rowsNear(db: Executor, query: SearchQuery, page: InTurn): Promise<readonly Row[] | undefined> {
  if (isSorted(query)) return rowsInTurn(db, query, page)
  return conjuncts(query.where).length === 1 ? rowsAlongIds(db, query, page) : undefined
}

/** Counts the matches exactly, without reading texts. */
export async function countMatches(db: Executor, query: SearchQuery, few: number = FEW): Promise<number> {
  const areSeveral = conjuncts(query.where).length > 1
  const lookedUp = areSeveral ? await lookedUpCount(db, query, few) : undefined
  if (lookedUp !== undefined) return lookedUp
  const narrow = areSeveral ? await narrowest(db, query, few) : undefined
  const counted = narrow === undefined ? countOfSet(query) : countOf(sql`SELECT 1 FROM fhir_resource r WHERE ${fewMatches(query, narrow)}`)
  const [row] = await db.rows(sql`SELECT (${counted}) AS count`)
  return numberAt(row ?? {}, 'count')
}

/** Counts a set. Removing repeated ids takes longer than counting, and is unnecessary if no resource has several entries of the parameter. */
function countOfSet(query: SearchQuery): Sql {
  const tests = entryTests(query.where)
  if (tests === undefined) return countOf(distinctIds(query))
  // The maximum is at the end of an index, whatever the planner's estimates.
  const again = sql`SELECT max(n) FROM fhir_entry WHERE type = ${query.type} AND param = ${tests.param} AND n > 0`
  return sql`SELECT CASE WHEN (${again}) IS NULL THEN (${countOf(idsWhere(query))}) ELSE (${countOf(distinctIds(query))}) END`
}

function countOf(rows: Sql): Sql {
  return sql`SELECT count(*) FROM (${rows}) AS matches`
}

function isSorted({ sort = [] }: SearchQuery): boolean {
  return sort.length > 0
}

function distinctIds(query: SearchQuery): Sql {
  return repeatsIds(query.where) ? sql`SELECT DISTINCT id FROM (${idsWhere(query)}) AS ids` : idsWhere(query)
}

/** Condition for the matching rows `r`. If few resources meet one condition, the others are tested for each; otherwise, sets are combined. */
function matches(query: SearchQuery, { after, limit }: Page, narrow: Condition | undefined): Sql {
  if (narrow !== undefined) return fewMatches(query, narrow)
  if (isSorted(query)) return isOneOf(query.type, idsWhere(query))
  if (conjuncts(query.where).length === 0) return isCurrent(query.type)
  return isOneOf(query.type, sql`SELECT id FROM (${distinctIds(query)}) AS ids WHERE ${after} ORDER BY id LIMIT ${limit}`)
}

function fewMatches({ type, where }: SearchQuery, narrow: Condition): Sql {
  const others: Condition = { kind: 'and', conditions: conjuncts(where).filter((condition) => condition !== narrow) }
  return sql`${isOneOf(type, idsWhere({ type, where: narrow }))} AND ${meets(type, others)}`
}

function cursorAt(row: Row, { sort = [] }: SearchQuery): string {
  const keys = sort.map(({ field }, index): KeyValue => {
    const column = `s${index}`
    if (row[column] === null) return null
    return field === 'low' || field === 'high' || field === 'lastUpdated' ? numberAt(row, column) : textAt(row, column)
  })
  return cursorOf({ id: textAt(row, 'id'), keys })
}

/** Up to this number of resources, each is tested separately instead of combining sets. */
const FEW = 1_000
/** Number of conditions that are examined; later ones are seldom better. */
const MAX_LOOKED_AT = 8

/**
 * Returns a condition of a query that few resources meet, if there is one. Counts index entries for that, up to the given number.
 * The planner's estimates do not help, because the values of entries depend on their parameter.
 */
async function narrowest(db: Executor, { type, where }: SearchQuery, few: number): Promise<Condition | undefined> {
  const candidates = conjuncts(where)
    .filter((condition) => condition.kind !== 'not')
    .slice(0, MAX_LOOKED_AT)
  if (candidates.length === 0) return undefined
  const counts = candidates.map((condition, index) => {
    const some = sql`SELECT 1 FROM (${idsWhere({ type, where: condition })}) AS ids LIMIT ${few + 1}`
    return sql`(SELECT count(*) FROM (${some}) AS few) AS ${{ text: `n${index}`, values: [] }}`
  })
  const [row] = await db.rows(sql`SELECT ${joined(counts, ', ')}`)
  const sizes = candidates.map((condition, index) => ({ condition, size: numberAt(row ?? {}, `n${index}`) }))
  const [smallest] = sizes.sort((a, b) => a.size - b.size)
  return smallest !== undefined && smallest.size <= few ? smallest.condition : undefined
}

/** A page to be found along an index. */
interface InTurn extends Page {
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
async function rowsAlongIds(db: Executor, query: SearchQuery, { position, few, ...page }: InTurn): Promise<readonly Row[] | undefined> {
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
async function rowsInTurn(db: Executor, query: SearchQuery, { position, few, ...page }: InTurn): Promise<readonly Row[] | undefined> {
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
