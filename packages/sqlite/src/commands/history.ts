import { instantOf, joined, MAX_PAGE_TEXT, pageLimit } from '@fhir-ops/sql'
import { historyCursor, readHistoryCursor, storedResource, versionNumber, type HistoryQuery } from 'fhir-ops/storage'
import type { HistoryPeriod, HistoryPosition, HistoryItem } from 'fhir-ops/internal/storage'
import type { Command } from './command.js'
import { numberOf, snapshot, sql, textOf, type Row, type Sql, type SqliteDriver } from '../database/driver.js'

/** A version as read from the database; plain data. */
export interface VersionRow {
  readonly type: string
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
  readonly created: boolean
  /** Absent for a deletion, and if it is left out. */
  readonly text?: string
  /** True for a text that is too long to be sent with a page. */
  readonly isLeftOut?: true
}

/** Versions in the order of the history. */
interface VersionRows {
  readonly rows: readonly VersionRow[]
  readonly next?: string
}

/** Converts a row to the form that callers of the storage get. */
export function versionOf({ type, id, version, updated, created, text }: VersionRow): HistoryItem {
  const stamp = { type, id, versionId: String(version), lastUpdated: instantOf(updated) }
  return { ...stamp, created, ...(text !== undefined && { stored: storedResource({ ...stamp, text }) }) }
}

/** The address of a version. */
interface VersionArgs {
  readonly type: string
  readonly id: string
  readonly versionId: string
}

/** Reads a version. */
export const readVersion: Command<VersionArgs, VersionRow | undefined> = {
  name: 'version',
  lane: 'point',
  run(db, { type, id, versionId }) {
    const version = versionNumber(versionId)
    return version === undefined ? undefined : snapshot(db, () => sizedVersion(db, { type, id, version })?.row)
  },
}

interface HistoryArgs extends HistoryQuery {
  /** Texts of at least this many bytes are left out. Default: none. */
  readonly leaveOutFrom?: number
}

/** Reads a page of a history. */
export const readHistory: Command<HistoryArgs, VersionRows> = {
  name: 'history',
  lane: 'long',
  run: (db, query) => snapshot(db, () => readPage(db, query)),
}

interface Address {
  readonly type: string
  readonly id: string
  readonly version: number
}

function readPage(db: SqliteDriver, query: HistoryArgs): VersionRows {
  const limit = pageLimit(query)
  const behind = query.after === undefined ? undefined : isBehind(readHistoryCursor(query.after))
  const arms = typesIn(db, query).flatMap((type) => tablesFor(query).map((table) => newestOf(table, { type, query, behind, limit })))
  if (arms.length === 0) return { rows: [] }
  const found = db.all(sql`SELECT * FROM (${joined(arms, ' UNION ALL ')}) ${ORDER} LIMIT ${limit + 1}`).map(addressOf)
  const rows = rowsOf(db, found.slice(0, limit), query)
  const last = rows.at(-1)
  return rows.length === found.length || last === undefined ? { rows } : { rows, next: historyCursor(last) }
}

/** Requested types that exist in the database; each needs its own lookups. */
function typesIn(db: SqliteDriver, { types }: HistoryQuery): readonly string[] {
  const distinct = TABLES.map((table) => sql`SELECT DISTINCT type FROM ${table}`)
  const known = new Set(db.all(joined(distinct, ' UNION ')).map(([type]) => textOf(type)))
  return [...new Set(types)].filter((type) => known.has(type))
}

const DELETED = sql`deleted`
/** Tables that together contain every version. */
const TABLES: readonly Sql[] = [sql`resource`, DELETED, sql`old_version`]

/** Deleted versions are never current. */
function tablesFor({ at }: HistoryQuery): readonly Sql[] {
  return at === undefined ? TABLES : TABLES.filter((table) => table !== DELETED)
}

const ORDER = sql`ORDER BY updated DESC, type, id, version DESC`

interface Newest {
  readonly type: string
  readonly query: HistoryQuery
  readonly behind: Sql | undefined
  readonly limit: number
}

function newestOf(table: Sql, { type, query: { id, since, at }, behind = sql`1`, limit }: Newest): Sql {
  const conditions = [
    sql`type = ${type}`,
    ...(id === undefined ? [] : [sql`id = ${id}`]),
    ...(since === undefined ? [] : [sql`updated >= ${since}`]),
    ...(at === undefined ? [] : [isCurrentIn(at)]),
    behind,
  ]
  return sql`SELECT * FROM (SELECT type, id, version, updated FROM ${table} AS v WHERE ${joined(conditions, ' AND ')} ${ORDER} LIMIT ${limit + 1})`
}

/** Condition that the version in row `v` was current in the period. */
function isCurrentIn({ from, to }: HistoryPeriod): Sql {
  const isNotReplaced = TABLES.map(
    (table) => sql`NOT EXISTS (SELECT 1 FROM ${table} n
      WHERE n.type = v.type AND n.id = v.id AND n.version = v.version + 1 AND n.updated <= ${from})`,
  )
  return sql`v.updated <= ${to} AND v.text IS NOT NULL AND ${joined(isNotReplaced, ' AND ')}`
}

function isBehind({ updated, type, id, version }: HistoryPosition): Sql {
  return sql`updated <= ${updated} AND (updated < ${updated} OR (type, id) > (${type}, ${id}) OR ((type, id) = (${type}, ${id}) AND version < ${version}))`
}

function addressOf([type, id, version]: Row): Address {
  return { type: textOf(type), id: textOf(id), version: numberOf(version) }
}

/** Reads versions until the page is long enough; at least one. */
function rowsOf(
  db: SqliteDriver,
  addresses: readonly Address[],
  { maxBytes = MAX_PAGE_TEXT, leaveOutFrom }: HistoryArgs,
): readonly VersionRow[] {
  const rows: VersionRow[] = []
  let length = 0
  for (const address of addresses) {
    if (length > maxBytes) break
    const found = sizedVersion(db, address, leaveOutFrom)
    if (found === undefined) continue
    rows.push(found.row)
    length += found.length
  }
  return rows
}

/** SQLite knows the length of a text without reading it. */
function sizedVersion(
  db: SqliteDriver,
  { type, id, version }: Address,
  leaveOutFrom = Number.MAX_SAFE_INTEGER,
): { readonly row: VersionRow; readonly length: number } | undefined {
  const which = sql`WHERE type = ${type} AND id = ${id} AND version = ${version}`
  const columns = sql`updated, CASE WHEN octet_length(text) < ${leaveOutFrom} THEN text END, octet_length(text)`
  const found = db.get(sql`SELECT ${columns} FROM resource ${which} UNION ALL SELECT ${columns} FROM old_version ${which}
    UNION ALL SELECT updated, NULL, NULL FROM deleted ${which}`)
  if (found === undefined) return undefined
  const [updated, text, bytes] = found
  const created = bytes !== null && (version === 1 || isDeletion(db, { type, id, version: version - 1 }))
  const stamp = { type, id, version, updated: numberOf(updated), created }
  if (typeof text === 'string') return { row: { ...stamp, text }, length: text.length }
  return bytes === null ? { row: stamp, length: 0 } : { row: { ...stamp, isLeftOut: true }, length: numberOf(bytes) }
}

/** True for a deletion that was followed by another version, which makes it an old version. */
function isDeletion(db: SqliteDriver, { type, id, version }: Address): boolean {
  return db.get(sql`SELECT 1 FROM old_version WHERE type = ${type} AND id = ${id} AND version = ${version} AND text IS NULL`) !== undefined
}
