import { cursorOf, isAfter, orderTerms, readCursor } from '@fhir-ops/sql'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { keysWhere, matchingKeys } from './condition-sql.js'
import type { Command } from './command.js'
import { numberOf, snapshot, textOf, type Row, type SqliteDriver } from './driver.js'
import { resourceRow, type ResourceRow } from './resource-row.js'
import { positionOf, rowsInTurn, type Part } from './rows-in-turn.js'
import { sortColumns } from './sort-sql.js'
import { sql, type Sql } from './sql.js'

/** A page as it leaves the database; plain data. */
export interface PageRows {
  readonly rows: readonly ResourceRow[]
  readonly next?: string
}

const DEFAULT_PAGE = 500
const MAX_PAGE = 10_000
/** Characters of text after which a page ends. */
const MAX_PAGE_TEXT = 8 * 1024 * 1024
/** With more matches than this a page is looked for along the ids, where it comes soon; with fewer, all matches are put in order. */
const FEW = 1_000
/** The same along the order of a sort key, where it takes longer until a page is full. */
const FEW_TO_SORT = 10_000
/** With at most so many matches a page is read in the calling thread. */
const FEW_KEYS = 32

/** One page of the matches of a query. */
export const searchPage: Command<SearchQuery, PageRows> = {
  name: 'search',
  lane: 'long',
  run: (db, query) => pageOfMatches(db, query, (query.sort ?? []).length > 0 ? FEW_TO_SORT : FEW),
}

/** @param few At most so many matches are put in order instead of being looked for in order. */
export function pageOfMatches(db: SqliteDriver, query: SearchQuery, few: number): PageRows {
  return snapshot(db, () => readPage(db, query, { few: hasAtMost(db, query, few) }))
}

/** A search that may turn out to be a look-up. */
export interface LookUpArgs {
  readonly query: SearchQuery
  /** The version of a resource that the reader has. */
  readonly versionOf: (id: string) => number | undefined
}

/**
 * The page of a query for a key, as a canonical or an identifier, that few resources have; `undefined` for all other queries, which take
 * longer. It never leaves the calling thread.
 */
export const lookUpPage: Command<LookUpArgs, PageRows | undefined> = {
  name: 'lookUp',
  lane: 'point',
  run(db, { query, versionOf }) {
    if (!asksForKey(query.where)) return undefined
    return snapshot(db, () => (hasAtMost(db, query, FEW_KEYS) ? readPage(db, query, { few: true, versionOf }) : undefined))
  },
}

interface Reading {
  /** All matches are put in order, as they are few. */
  readonly few: boolean
  readonly versionOf?: (id: string) => number | undefined
}

function readPage(db: SqliteDriver, query: SearchQuery, reading: Reading): PageRows {
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const after = query.after === undefined ? undefined : readCursor(query.after, query)
  const found = reading.few ? db.all(fewSql(query, { after, limit: limit + 1 })) : rowsInTurn(db, query, { after, limit: limit + 1 })
  const rows = textsOf(db, found.slice(0, limit), reading)
  const last = found[rows.length - 1]
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorOf(positionOf(last)) }
}

/** The exact number of matches; no resource is read. */
export const countMatches: Command<SearchQuery, number> = {
  name: 'count',
  lane: 'long',
  run: (db, query) => numberOf(db.get(sql`SELECT count(*) FROM (${matchingKeys(query)})`)?.[0]),
}

function asksForKey(where: Condition): boolean {
  return where.kind === 'entry' && where.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

function hasAtMost(db: SqliteDriver, { type, where }: SearchQuery, few: number): boolean {
  const keys = keysWhere(type, where)
  if (keys === undefined) return false
  return numberOf(db.get(sql`SELECT count(*) FROM (SELECT 1 FROM (${keys}) LIMIT ${few + 1})`)?.[0]) <= few
}

/** All matches put in order: rows of key, id and sort values. */
function fewSql(query: SearchQuery, { after, limit }: Part): Sql {
  const found = sql`SELECT r.key AS key, r.id AS id${sortColumns(query)} FROM resource AS r NOT INDEXED WHERE r.key IN (${matchingKeys(query)})`
  const behind = after === undefined ? sql`1` : isAfter(query, after)
  return sql`SELECT * FROM (${found}) WHERE ${behind} ORDER BY ${orderTerms(query)} LIMIT ${limit}`
}

/** The resources of the found rows, in their order, until the page is long enough; at least one. */
function textsOf(db: SqliteDriver, found: readonly Row[], { versionOf }: Reading): readonly ResourceRow[] {
  const rows: ResourceRow[] = []
  let length = 0
  for (const [key, id] of found) {
    if (length > MAX_PAGE_TEXT) break
    const row = resourceRow(db, sql`key = ${numberOf(key)}`, versionOf?.(textOf(id)))
    if (row === undefined) continue
    rows.push(row)
    length += row.text?.length ?? 0
  }
  return rows
}
