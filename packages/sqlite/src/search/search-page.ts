import { cursorOf, isAfter, orderTerms, readCursor, type ResourceRow } from '@fhir-ops/sql'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { keysAmong, keysWhere, matchingKeys } from './condition-sql.js'
import type { Command } from '../commands/command.js'
import { numberOf, snapshot, textOf, type Row, type SqliteDriver } from '../database/driver.js'
import { countUpTo, FEW_TO_ASK, narrowest } from './narrowest.js'
import { resourceRow } from '../commands/resource-row.js'
import { positionOf, rowsInTurn, type Part } from './rows-in-turn.js'
import { sortColumns } from './sort-sql.js'
import { sql, type Sql } from '../database/sql.js'

/** A page as it leaves the database; plain data. */
export interface PageRows {
  readonly rows: readonly ResourceRow[]
  readonly next?: string
}

const DEFAULT_PAGE = 500
const MAX_PAGE = 10_000
/** Characters of text after which a page ends, where the query has no bound of its own. */
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
  run: (db, query) => pageOfMatches(db, query, { few: (query.sort ?? []).length > 0 ? FEW_TO_SORT : FEW, fewToAsk: FEW_TO_ASK }),
}

/** How a page is looked for. */
export interface Bounds {
  /** At most so many matches are put in order instead of being looked for in order. */
  readonly few: number
  /** At most so many resources that meet one condition are asked for the others. */
  readonly fewToAsk: number
}

/** Reads a page of one state of the database. */
export function pageOfMatches(db: SqliteDriver, query: SearchQuery, { few, fewToAsk }: Bounds): PageRows {
  return snapshot(db, () => {
    const keys = keysOfMatches(db, query, fewToAsk)
    const areFew = keys !== undefined && countUpTo(db, keys, few + 1) <= few
    return readPage(db, query, areFew ? { few: keys } : {})
  })
}

/** The keys of the matches, which may come several times; `undefined` where no index gives them. */
function keysOfMatches(db: SqliteDriver, query: SearchQuery, fewToAsk: number): Sql | undefined {
  const narrow = narrowest(db, query, fewToAsk)
  return narrow === undefined ? keysWhere(query.type, query.where) : keysAmong(query.type, narrow.keys, narrow.others)
}

/** A search that may turn out to be a lookup. */
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
    const keys = keysWhere(query.type, query.where)
    if (keys === undefined) return undefined
    return snapshot(db, () => (countUpTo(db, keys, FEW_KEYS + 1) <= FEW_KEYS ? readPage(db, query, { few: keys, versionOf }) : undefined))
  },
}

interface Reading {
  /** The keys of all matches, which are put in order, as they are few. */
  readonly few?: Sql
  readonly versionOf?: (id: string) => number | undefined
  readonly maxBytes?: number | undefined
}

function readPage(db: SqliteDriver, query: SearchQuery, reading: Reading): PageRows {
  const limit = Math.min(query.limit ?? DEFAULT_PAGE, MAX_PAGE)
  const after = query.after === undefined ? undefined : readCursor(query.after, query)
  const part = { after, limit: limit + 1 }
  const found = reading.few === undefined ? rowsInTurn(db, query, part) : db.all(fewSql(reading.few, query, part))
  const rows = textsOf(db, found.slice(0, limit), { ...reading, maxBytes: query.maxBytes })
  const last = found[rows.length - 1]
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorOf(positionOf(last)) }
}

/** The exact number of matches; no resource is read. */
export const countMatches: Command<SearchQuery, number> = {
  name: 'count',
  lane: 'long',
  run: (db, query) => snapshot(db, () => countOf(db, query, FEW_TO_ASK)),
}

/** @param fewToAsk As of `Bounds`. */
export function countOf(db: SqliteDriver, query: SearchQuery, fewToAsk: number): number {
  const narrow = narrowest(db, query, fewToAsk)
  const keys = narrow === undefined ? matchingKeys(query) : keysAmong(query.type, narrow.keys, narrow.others)
  return numberOf(db.get(sql`SELECT count(*) FROM (${keys})`)?.[0])
}

function asksForKey(where: Condition): boolean {
  return where.kind === 'entry' && where.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

/** All matches put in order: rows of key, id and sort values. */
function fewSql(keys: Sql, query: SearchQuery, { after, limit }: Part): Sql {
  const found = sql`SELECT r.key AS key, r.id AS id${sortColumns(query)} FROM resource AS r NOT INDEXED WHERE r.key IN (${keys})`
  const behind = after === undefined ? sql`1` : isAfter(query, after)
  return sql`SELECT * FROM (${found}) WHERE ${behind} ORDER BY ${orderTerms(query)} LIMIT ${limit}`
}

/** The resources of the found rows, in their order, until the page is long enough; at least one. */
function textsOf(db: SqliteDriver, found: readonly Row[], { versionOf, maxBytes = MAX_PAGE_TEXT }: Reading): readonly ResourceRow[] {
  const rows: ResourceRow[] = []
  let length = 0
  for (const [key, id] of found) {
    if (length > maxBytes) break
    const row = resourceRow(db, sql`key = ${numberOf(key)}`, versionOf?.(textOf(id)))
    if (row === undefined) continue
    rows.push(row)
    length += row.text?.length ?? 0
  }
  return rows
}
