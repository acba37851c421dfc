import { createResourceCache, joined, instantOf, MAX_PAGE_TEXT, pageLimit, resourceOf } from '@fhir-ops/sql'
import {
  checkEntries,
  checkQuery,
  checkRead,
  checkScan,
  isContainedType,
  type ChangedAddress,
  type HistoryItem,
  type HistoryPeriod,
  type HistoryPosition,
} from 'fhir-ops/internal/storage'
import {
  historyCursor,
  readHistoryCursor,
  versionNumber,
  type Capabilities,
  type ReadResult,
  type Storage,
  type Condition,
  type SearchQuery,
  type HistoryPage,
  type HistoryQuery,
  type ResourceHistory,
} from 'fhir-ops/storage'
import { LRUCache } from 'lru-cache'
import type { Database, Executor } from '../database/database.js'
import type { Reading } from '../database/replicas.js'
import { countMatches, searchPage } from '../search/search-page.js'
import { prepared, sql, textAt, numberAt, type Sql, type Row } from '../database/sql.js'
import { scanPage } from '../search/scan-page.js'
import { countingBySets } from '../search/set-counts.js'
import { changesIn } from './changes.js'
import { LARGE, resourceRow } from './resource-row.js'
import { writeEntries } from './write-entries.js'

const CAPABILITIES: Capabilities = { atomic: true, counts: true, preconditions: true, sorts: true, contained: true }

/** With more changes than this, a count is repeated, which may be faster than reading the changes. */
const FEW_CHANGES = 200

/** Options for the storage of resources. */
export interface StorageOptions {
  readonly now: () => Date
  readonly history: boolean
  readonly cacheCharacters: number
  /** Where searches, counts, scans and pages of histories are read. */
  readonly reading: Reading
  /** True if rows contain the transaction that wrote them. */
  readonly bearsTransactions: boolean
  /** True if the engine has the locks of writes with conditions. */
  readonly locksConditions: boolean
}

/** Creates the storage of resources in a database. */
export function storageIn(db: Database, options: StorageOptions): Storage {
  const { now, history, cacheCharacters, reading, bearsTransactions } = options
  const capabilities = { ...CAPABILITIES, conditionalWrites: options.locksConditions }
  const cache = createResourceCache({ maxCharacters: cacheCharacters, fromCharacters: LARGE })
  const counted: Storage['count'] = async (query) => reading(async (executor) => countMatches(executor, query))
  const count = bearsTransactions ? keptCounts(changesIn(db, FEW_CHANGES), countingBySets(db, counted)) : counted
  return {
    capabilities,
    changes: bearsTransactions ? changesIn(db) : undefined,
    ...(history && { history: historyIn(db, { reading, cacheCharacters }) }),
    async read(type, id): Promise<ReadResult> {
      checkRead(type, id)
      const { versionOf, resource } = cache.lookUp(type)
      const text = sql`CASE WHEN version = ${versionOf(id) ?? 0} THEN NULL ELSE text END AS text`
      const read = sql`SELECT id, version, updated, ${text} FROM fhir_resource WHERE type = ${type} AND id = ${id} AND text IS NOT NULL`
      const [row] = await db.rows(prepared('read', read))
      return row && resource(resourceRow(row))
    },
    async search(query) {
      checkQuery(query)
      return reading(async (executor) => searchPage(executor, query, { cache }))
    },
    async scan(query) {
      checkScan(query)
      return reading(async (executor) => scanPage(executor, query))
    },
    async count(query) {
      checkQuery(query)
      return count(query)
    },
    async write(entries) {
      checkEntries(entries, capabilities)
      return writeEntries(db, entries, { now: now().getTime(), history })
    },
    close: async () => db.close(),
  }
}

/** A count that is faster than this is not worth a query for changes. */
const LONG_MS = 10
const MOST_KEPT = 1_000
/** Maximum characters of a query whose count is cached. */
const LONGEST_KEY = 2_000

/** A count, and a mark from before it was made. If both are absent, the next count is cached. */
interface Kept {
  readonly count?: number
  readonly mark?: string
}

/**
 * Caches slow counts, from the second time on. A cached count is used as long as nothing that it counts has changed since, which is checked
 * each time and takes a fraction of a millisecond.
 *
 * @param longMs Duration from which a count is slow, in milliseconds.
 */
export function keptCounts(changes: NonNullable<Storage['changes']>, count: Storage['count'], longMs: number = LONG_MS): Storage['count'] {
  const kept = new LRUCache<string, Kept>({ max: MOST_KEPT })
  return async (query) => {
    const key = JSON.stringify([query.type, query.where])
    const known = kept.get(key)
    if (known === undefined) {
      const start = performance.now()
      const found = await count(query)
      if (performance.now() - start >= longMs && key.length <= LONGEST_KEY) kept.set(key, {})
      return found
    }
    const { mark, changed } = await changes(known.mark)
    const isCurrent = changed !== 'unknown' && !changed.some((address) => concerns(query, address))
    const found = isCurrent && known.count !== undefined ? known.count : await count(query)
    kept.set(key, { count: found, mark })
    return found
  }
}

/** True if a change may affect the count. Contained resources change with their container, whatever its type. */
function concerns({ type, where }: Pick<SearchQuery, 'type' | 'where'>, changed: ChangedAddress): boolean {
  return changed.type === type || isContainedType(type) || looksAtOthers(where)
}

function looksAtOthers(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(looksAtOthers)
    case 'not':
      return looksAtOthers(condition.condition)
    case 'refersTo':
    case 'referredBy':
      return true
    default:
      return false
  }
}

/**
 * Creates the history over a database: the last version of an id is in the row of its resource, earlier ones are in a separate table.
 *
 * @param options.reading Where pages are read.
 * @param options.cacheCharacters Maximum total length of the large versions that are kept; 0 reads them with each page.
 */
export function historyIn(db: Executor, { reading, cacheCharacters }: HistoryOptions): ResourceHistory {
  const largeVersion = cacheCharacters === 0 ? undefined : sharedVersions(cacheCharacters)
  return {
    async version(type, id, versionId) {
      const version = versionNumber(versionId)
      return version === undefined ? undefined : readVersion(db, { type, id, version })
    },
    page: async (query) =>
      reading(async (executor) => {
        if (largeVersion === undefined) return pageOf(await readRows(executor, query))
        const found = await readRows(executor, { ...query, leaveOutFrom: LARGE })
        const items: HistoryItem[] = []
        for (const row of found.rows) {
          const item = row['left_out'] === true ? await largeVersion(executor, positionOf(row)) : versionOf(row)
          // A writer that stores no history has replaced the version meanwhile.
          if (item === undefined) return pageOf(await readRows(executor, query))
          items.push(item)
        }
        return { ...pageOf({ ...found, rows: [] }), items }
      }),
  }
}

/** Options of `historyIn`. */
interface HistoryOptions {
  readonly reading: Reading
  readonly cacheCharacters: number
}

async function readVersion(db: Executor, { type, id, version }: Omit<HistoryPosition, 'updated'>): Promise<HistoryItem | undefined> {
  const which = sql`type = ${type} AND id = ${id} AND version = ${version}`
  const [row] = await db.rows(
    prepared('version', sql`SELECT v.*, ${CREATED} FROM (${eachOf(PARTS, (part) => versionsIn(part, which))}) AS v`),
  )
  return row && versionOf(row)
}

/** Reads versions once for all pages that have them at the same time or soon after: versions never change, and each page would have its own copy. */
function sharedVersions(maxCharacters: number): (db: Executor, position: HistoryPosition) => Promise<HistoryItem | undefined> {
  const kept = new LRUCache<string, HistoryItem>({ maxSize: maxCharacters })
  const underWay = new Map<string, Promise<HistoryItem | undefined>>()
  const read = async (db: Executor, position: HistoryPosition, key: string): Promise<HistoryItem | undefined> => {
    try {
      const item = await readVersion(db, position)
      if (item !== undefined) kept.set(key, item, { size: Math.max(1, item.stored?.text.length ?? 0) })
      return item
    } finally {
      underWay.delete(key)
    }
  }
  return async (db, position) => {
    // The time distinguishes versions of a database that was emptied or restored meanwhile.
    const { type, id, version, updated } = position
    const key = `${type}/${id}/${version}/${updated}`
    const known = kept.get(key) ?? underWay.get(key)
    if (known !== undefined) return known
    const asked = read(db, position, key)
    underWay.set(key, asked)
    return asked
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

interface RowsQuery extends HistoryQuery {
  /** Texts of at least this many bytes are left out. Default: none. */
  readonly leaveOutFrom?: number
}

/** The rows of a page. */
interface PageRows {
  readonly rows: readonly Row[]
  readonly next?: string
}

async function readRows(db: Executor, query: RowsQuery): Promise<PageRows> {
  const limit = pageLimit(query)
  const found = await db.rows(pageSql(query, limit + 1))
  const rows = found.slice(0, limit).filter((row) => row['whole'] === true)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: historyCursor(positionOf(last)) }
}

function pageOf({ rows, ...page }: PageRows): HistoryPage {
  return { ...page, items: rows.map(versionOf) }
}

/** Selects the newest versions of each type and part. Rows after the first that exceed the page size have no text. */
function pageSql({ types, id, since, at, after, maxBytes = MAX_PAGE_TEXT, leaveOutFrom = MAX_INTEGER }: RowsQuery, limit: number): Sql {
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
  const isLarge = sql`coalesce(octet_length(v.text), 0) >= ${leaveOutFrom}`
  return sql`SELECT v.type, v.id, v.version, v.updated, CASE WHEN ${isWhole} AND NOT ${isLarge} THEN v.text END AS text,
    ${isLarge} AS left_out, ${isWhole} AS whole, ${CREATED}
    FROM (${sized}) AS v ORDER BY v.updated DESC, v.type, v.id, v.version DESC`
}

/** The largest integer of PostgreSQL; no text is that long. */
const MAX_INTEGER = 2_147_483_647

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
