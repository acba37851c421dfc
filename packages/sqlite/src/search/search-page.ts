import { countBits, membersOf, type Bits } from 'fhir-ops/internal/bits'
import { MATCHES_OF_PUT } from 'fhir-ops/internal/storage'
import { cursorOf, MAX_PAGE_TEXT, pageLimit, readCursor, type ResourceRow } from '@fhir-ops/sql'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import type { Command } from '../commands/command.js'
import { COLUMNS, rowOf } from '../commands/resource-row.js'
import { asking, numberOf, snapshot, sql, textOf, type Row, type Sql, type SqliteDriver } from '../database/driver.js'
import { type KeptSets, setsOf } from '../sets/kept-sets.js'
import { matchingSet, idOrder } from '../sets/matching-set.js'
import { keysAmong, keysWhere, matchingKeys, meets, countUpTo, FEW_TO_ASK, narrowest } from './condition-sql.js'
import { fewRows, positionOf, rowsInTurn, type Cut } from './rows-in-turn.js'

/** A page as read from the database; plain data. */
export interface PageRows {
  readonly rows: readonly ResourceRow[]
  readonly next?: string
}

/** With more matches than this, a page is filled along the ids, where matches come soon; with fewer, all matches are sorted. */
const FEW = 1_000
/** The same limit for searches with a sort key, where it takes longer to fill a page. */
const FEW_TO_SORT = 10_000
/** With at most this number of matches, a page is read in the calling thread. */
const FEW_KEYS = 32

/** A search that may leave out the long texts of its page. */
interface PageQuery extends SearchQuery {
  /** Texts of at least this many bytes are left out. By default, none are. */
  readonly leaveOutFrom?: number
}

/** Reads a page of matches of a query. */
export const searchPage: Command<PageQuery, PageRows> = {
  name: 'search',
  lane: 'long',
  run: (db, query) =>
    pageOfMatches(db, query, { fewToAsk: FEW_TO_ASK, sets: setsOf(db), few: (query.sort ?? []).length > 0 ? FEW_TO_SORT : FEW }),
}

/** Parameters of the search strategy. */
export interface Bounds {
  /** Up to this number of matches, all are sorted instead of being searched in order. */
  readonly few: number
  /** Up to this number of resources, those that meet one condition are tested for the others. */
  readonly fewToAsk: number
  /** Sets that may already be cached. */
  readonly sets: KeptSets
}

/** Reads a page within a snapshot of the database. */
export function pageOfMatches(db: SqliteDriver, query: PageQuery, { few, fewToAsk, sets }: Bounds): PageRows {
  return snapshot(db, () => {
    const set = isOfAll(query) ? undefined : matchingSet(db, sets, query)
    if (set !== undefined) return readPage(db, query, { find: (cut) => rowsOfSet(db, query, { ...cut, set, sets, few }) })
    const keys = keysOfMatches(db, query, fewToAsk)
    if (keys !== undefined && countUpTo(db, keys, few + 1) <= few)
      return readPage(db, query, { find: (cut) => fewRows(db, query, keys, cut) })
    const { type, where, sort = [] } = query
    const isMatch = meets(type, where, { key: sql`r.key`, each: true })
    return readPage(db, query, { find: (cut) => rowsInTurn(db, { type, sort, isMatch }, cut) })
  })
}

/** True if the query matches all resources: any index has them in order. */
function isOfAll({ where }: SearchQuery): boolean {
  return where.kind === 'and' && where.conditions.length === 0
}

/** Returns the keys of the matches, possibly repeated; `undefined` if no index has them. */
function keysOfMatches(db: SqliteDriver, query: SearchQuery, fewToAsk: number): Sql | undefined {
  const narrow = narrowest(db, query, fewToAsk)
  return narrow === undefined ? keysWhere(query.type, query.where) : keysAmong(query.type, narrow.keys, narrow.others)
}

/** A search that may be answered as a lookup. */
interface LookUpArgs {
  readonly query: SearchQuery
  /** Returns the version of a resource that the reader already has. */
  readonly versionOf: (id: string) => number | undefined
}

/**
 * Returns the page of a query for a key that few resources have, such as a canonical or an identifier; `undefined` for all other queries, which take
 * longer. Runs in the calling thread.
 */
export const lookUpPage: Command<LookUpArgs, PageRows | undefined> = {
  name: 'lookUp',
  lane: 'point',
  run(db, { query, versionOf }) {
    if (!asksForKey(query.where)) return undefined
    const keys = keysWhere(query.type, query.where)
    if (keys === undefined) return undefined
    return snapshot(db, () => {
      if (countUpTo(db, keys, FEW_KEYS + 1) > FEW_KEYS) return undefined
      return readPage(db, query, { find: (cut) => fewRows(db, query, keys, cut), versionOf })
    })
  },
}

interface Reading {
  /** Finds the first matches: rows of key, id and sort values. */
  readonly find: (cut: Cut) => readonly Row[]
  readonly versionOf?: LookUpArgs['versionOf']
}

function readPage(db: SqliteDriver, query: PageQuery, { find, versionOf }: Reading): PageRows {
  const limit = pageLimit(query)
  const found = find({ after: query.after === undefined ? undefined : readCursor(query.after, query), limit: limit + 1 })
  const rows = textsOf(db, found.slice(0, limit), { versionOf, maxBytes: query.maxBytes, leaveOutFrom: query.leaveOutFrom })
  const last = found[rows.length - 1]
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: cursorOf(positionOf(last)) }
}

/** Counts the matches exactly, without reading resources. */
export const countMatches: Command<SearchQuery, number> = {
  name: 'count',
  lane: 'long',
  run: (db, query) => snapshot(db, () => countOf(db, query, { fewToAsk: FEW_TO_ASK, sets: setsOf(db) })),
}

/** Counts within a snapshot. */
export function countOf(db: SqliteDriver, query: SearchQuery, { fewToAsk, sets }: Omit<Bounds, 'few'>): number {
  const set = matchingSet(db, sets, query)
  if (set !== undefined) return countBits(set)
  return numberOf(db.get(sql`SELECT count(*) FROM (${allKeys(db, query, fewToAsk)})`)?.[0])
}

function allKeys(db: SqliteDriver, query: Pick<SearchQuery, 'type' | 'where'>, fewToAsk: number): Sql {
  const narrow = narrowest(db, query, fewToAsk)
  return narrow === undefined ? matchingKeys(query) : keysAmong(query.type, narrow.keys, narrow.others)
}

/** Time limit of `firstMatches`, in milliseconds: meanwhile nobody else can write. */
const MATCH_MS = 5_000

/** Returns the ids of the first matches that are found, `MATCHES_OF_PUT` at most, for use within the transaction of a write. */
export function firstMatches(db: SqliteDriver, query: Pick<SearchQuery, 'type' | 'where'>): readonly string[] {
  return db.limited(MATCH_MS, () => {
    const keys = allKeys(db, query, FEW_TO_ASK)
    const found = sql`SELECT key FROM (${keys}) LIMIT ${MATCHES_OF_PUT}`
    return db.all(sql`SELECT r.id FROM (${found}) AS k CROSS JOIN resource AS r ON r.key = k.key`).map(([id]) => textOf(id))
  })
}

function asksForKey(where: Condition): boolean {
  return where.kind === 'entry' && where.all.some(({ field, op }) => field === 'value' && (op === 'eq' || op === 'in'))
}

interface Texts {
  readonly versionOf: LookUpArgs['versionOf'] | undefined
  readonly maxBytes: number | undefined
  readonly leaveOutFrom: number | undefined
}

const READ_ROW = `SELECT ${COLUMNS} FROM resource WHERE key = ?`
/** SQLite knows the length of a text without reading it. */
const READ_SHORT = `SELECT id, version, updated, CASE WHEN octet_length(text) < ? THEN text END, octet_length(text) FROM resource WHERE key = ?`

/** Reads the resources of the found rows, in order, until the page is long enough; at least one. */
function textsOf(
  db: SqliteDriver,
  found: readonly Row[],
  { versionOf, maxBytes = MAX_PAGE_TEXT, leaveOutFrom }: Texts,
): readonly ResourceRow[] {
  const rows: ResourceRow[] = []
  let length = 0
  const read = db.fixed(leaveOutFrom === undefined ? READ_ROW : READ_SHORT)
  for (const [key, id] of found) {
    if (length > maxBytes) break
    const columns = read.get(leaveOutFrom ?? versionOf?.(textOf(id)) ?? null, numberOf(key))
    if (columns === undefined) continue
    const row = rowOf(columns)
    rows.push(row)
    length += row.text?.length ?? numberOf(columns[4] ?? 0)
  }
  return rows
}

/** A query for which the keys of all matches are known. */
interface OfSet extends Cut {
  readonly set: Bits
  readonly sets: KeptSets
  /** Up to this number of matches, all are sorted instead of being searched in order. */
  readonly few: number
}

/** Finds the first matches: rows of key, id and sort values. */
function rowsOfSet(db: SqliteDriver, query: SearchQuery, { set, sets, few, ...cut }: OfSet): readonly Row[] {
  const isSorted = (query.sort ?? []).length > 0
  const inOrder = isSorted ? undefined : idOrder(db, sets, query.type)?.first(db, set, cut)
  if (inOrder !== undefined) return inOrder
  const count = countBits(set)
  if (count <= few && count * LARGE_PART <= set.length * 32)
    return fewRows(db, query, sql`SELECT value FROM json_each(${JSON.stringify([...membersOf(set)])})`, cut)
  return asking(set, () => rowsInTurn(db, { ...query, isMatch: sql`is_member(r.key)` }, cut))
}

/** If at least one key in this many is a match, the first matches are found soon in any order. */
const LARGE_PART = 8
