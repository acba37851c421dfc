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

/** More bytes than a text has. */
const MAX_TEXT = 2 ** 31 - 1
const NOTHING = createResourceCache({ maxCharacters: 0 })

/** How a page is looked for. */
interface Search {
  /** Up to this many resources are examined one by one. Default 1,000. */
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
  /** Texts of this many bytes or more are left out. */
  readonly textBelow: number
}

/** It comes from one statement, so that it shows one state of the database. */
async function pageOf(db: Executor, query: SearchQuery, { few, textBelow }: Reading): Promise<{ rows: readonly Row[]; next?: string }> {
  const limit = pageLimit(query)
  const position = query.after === undefined ? undefined : readCursor(query.after, query)
  const page = { after: position === undefined ? sql`TRUE` : isAfter(query, position), limit: limit + 1, textBelow }
  const found = (await lookedUpPage(db, query, { ...page, position, few })) ?? (await searchedRows(db, query, { ...page, position, few }))
  const rows = found.slice(0, limit).filter((row) => row['fits'] === true)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorAt(last, query) }
}

/** The rows of a page, after looking at how many resources meet each condition. */
async function searchedRows(db: Executor, query: SearchQuery, { position, few, ...page }: InTurn): Promise<readonly Row[]> {
  const narrow = await narrowest(db, query, few)
  const near = narrow === undefined ? await rowsNear(db, query, { ...page, position, few }) : undefined
  return near ?? db.rows(pageSql(query, { ...page, found: matchesSql(query, matches(query, page, narrow)), filled: 0 }))
}

/** Several conditions that many meet may be met together by few, so that none of them is near. */
async function rowsNear(db: Executor, query: SearchQuery, page: InTurn): Promise<readonly Row[] | undefined> {
  if (isSorted(query)) return rowsInTurn(db, query, page)
  return conjuncts(query.where).length === 1 ? rowsAlongIds(db, query, page) : undefined
}

/** The exact number of matches; the text of no resource is read. */
export async function countMatches(db: Executor, query: SearchQuery, few: number = FEW): Promise<number> {
  const areSeveral = conjuncts(query.where).length > 1
  const lookedUp = areSeveral ? await lookedUpCount(db, query, few) : undefined
  if (lookedUp !== undefined) return lookedUp
  const narrow = areSeveral ? await narrowest(db, query, few) : undefined
  const counted = narrow === undefined ? countOfSet(query) : countOf(sql`SELECT 1 FROM fhir_resource r WHERE ${fewMatches(query, narrow)}`)
  const [row] = await db.rows(sql`SELECT (${counted}) AS count`)
  return numberAt(row ?? {}, 'count')
}

/** To remove repeated ids takes longer than to count them, and is not needed where no resource has several entries of the parameter. */
function countOfSet(query: SearchQuery): Sql {
  const tests = entryTests(query.where)
  if (tests === undefined) return countOf(distinctIds(query))
  // The greatest is at the end of an index, whatever the planner believes of how many there are.
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

/** Which rows `r` match. Among few that meet one condition, the others are asked of each. What many meet is put together as sets. */
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

/** Up to this many resources are examined one by one instead of through sets. */
const FEW = 1_000
/** Conditions that are looked at; there is seldom a better one after these. */
const MAX_LOOKED_AT = 8

/**
 * The condition of a query that few resources meet, if there is one: found by counting into the indexes, no further than that few.
 * What the planner estimates is of no use here, as the values of an entry depend on its parameter.
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
