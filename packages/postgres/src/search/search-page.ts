import { createResourceCache, cursorOf, isAfter, pageLimit, readCursor, type KeyValue, type ResourceCache, joined } from '@fhir-ops/sql'
import type { Condition, SearchPage, SearchQuery } from 'fhir-ops/storage'
import { conjuncts, entryTests } from './condition.js'
import type { Executor } from '../database/database.js'
import { idsWhere, repeatsIds, meets } from './ids-sql.js'
import { lookedUpCount, lookedUpPage } from './index-lookup.js'
import { LARGE, withLargeTexts } from '../resources/resource-row.js'
import { isCurrent, isOneOf, matchesSql, pageSql, type Page } from './page-sql.js'
import { numberAt, textAt, sql, type Row, type Sql } from '../database/sql.js'
import { rowsAlongIds, rowsInTurn, type InTurn } from './rows-in-turn.js'

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
