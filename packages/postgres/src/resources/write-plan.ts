import { instantOf, joined } from '@fhir-ops/sql'
import { checkLaidOut, containedPuts, type IndexEntry, type PutEntry, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import { checkVersion } from 'fhir-ops/internal/storage'
import { copyChunks, type CopyValue } from '../database/connections.js'
import type { Executor } from '../database/database.js'
import { prepared, sql, type Sql } from '../database/sql.js'

/** The address of a resource. */
export interface Address {
  readonly type: string
  readonly id: string
}

/** The last version of an id; a deletion has no text. */
interface Version extends Address {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
}

/** The states of an id before and after the write. */
export interface Change extends Version {
  readonly text: string | null
  readonly entries: readonly IndexEntry[]
  /** Contained resources. */
  readonly contained: readonly PutEntry[]
  /** True if the id has had a version before. */
  readonly known: boolean
}

/** The result of each entry of a write, and one change per id, in the order of `addressesOf`. */
export interface WritePlan {
  readonly results: readonly WriteResult[]
  readonly changes: readonly Change[]
  /** Versions that the same write replaces again: an id may occur several times. */
  readonly passed: readonly Change[]
}

/** The last version of an id before a write. */
export interface VersionBefore extends Version {
  readonly current: boolean
}

/**
 * Determines the effect of a write, entry by entry, without writing.
 *
 * @param before The last versions of the entries' ids.
 * @param now Milliseconds since 1970.
 * @throws {OperationError} `version-conflict`, `resource-invalid`
 */
export function writePlan(entries: readonly WriteEntry[], before: readonly VersionBefore[], now: number): WritePlan {
  const versions = new Map(before.map((version) => [keyOf(version), version]))
  const known = new Set(versions.keys())
  const changes = new Map<string, Change>()
  const passed: Change[] = []
  const results = entries.map((entry): WriteResult => {
    const key = keyOf(entry)
    const last = versions.get(key)
    checkVersion(entry, last?.current === true ? String(last.version) : null)
    const existed = last?.current === true
    const next = versionAfter(entry, last, now)
    const result = { type: entry.type, id: entry.id, lastUpdated: instantOf(next.updated), created: next.current && !existed }
    if (!existed && !next.current) return result
    versions.set(key, next)
    const replaced = changes.get(key)
    if (replaced !== undefined) passed.push(replaced)
    changes.set(key, { ...next, ...contentOf(entry), known: known.has(key) })
    return { ...result, versionId: String(next.version) }
  })
  return { results, changes: addressesOf(entries).flatMap((address) => changes.get(keyOf(address)) ?? []), passed }
}

/** @throws {OperationError} `resource-invalid` if a text is not laid out for storage. */
export function checkTexts(entries: readonly WriteEntry[]): void {
  for (const entry of entries) checkLaidOut(entry)
}

/** Returns the ids of the entries, each once, in the same order for every writer, so that writers do not deadlock. */
export function addressesOf(entries: readonly WriteEntry[]): readonly Address[] {
  const addresses = new Map(entries.map((entry) => [keyOf(entry), entry]))
  return [...addresses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { type, id }]) => ({ type, id }))
}

function keyOf({ type, id }: Address): string {
  return `${type}/${id}`
}

function versionAfter({ type, id, op }: WriteEntry, last: VersionBefore | undefined, now: number): VersionBefore {
  // If the clock was set back, the version must not become older than its predecessor.
  return { type, id, version: (last?.version ?? 0) + 1, updated: Math.max(now, last?.updated ?? now), current: op === 'put' }
}

function contentOf(entry: WriteEntry): Pick<Change, 'text' | 'entries' | 'contained'> {
  if (entry.op === 'delete') return { text: null, entries: [], contained: [] }
  return { text: entry.text, entries: entry.entries, contained: containedPuts(entry) }
}

/** An index entry of a changed resource, with its number among the entries of the same parameter, from 0. */
interface EntryRow {
  readonly change: Change
  readonly n: number
  readonly entry: IndexEntry
}

const TEXTS = sql`text[]`
const NUMBERS = sql`double precision[]`

/** Insertion of the index entries of changed resources. */
export const ENTRIES: Insertion<EntryRow> = {
  name: 'index',
  table: sql`fhir_entry`,
  columns: [
    { name: sql`type`, arrayType: TEXTS, of: ({ change }) => change.type },
    { name: sql`id`, arrayType: TEXTS, of: ({ change }) => change.id },
    { name: sql`param`, arrayType: TEXTS, of: ({ entry }) => entry.param },
    { name: sql`n`, arrayType: sql`integer[]`, of: ({ n }) => n },
    { name: sql`system`, arrayType: TEXTS, of: ({ entry }) => indexed(entry.system) },
    { name: sql`value`, arrayType: TEXTS, of: ({ entry }) => indexed(entry.value) },
    { name: sql`text`, arrayType: TEXTS, of: ({ entry }) => indexed(entry.text) },
    { name: sql`low`, arrayType: NUMBERS, of: ({ entry }) => entry.low ?? null },
    { name: sql`high`, arrayType: NUMBERS, of: ({ entry }) => entry.high ?? null },
    { name: sql`whole_system`, arrayType: TEXTS, of: ({ entry }) => whole(entry.system) },
    { name: sql`whole_value`, arrayType: TEXTS, of: ({ entry }) => whole(entry.value) },
    { name: sql`whole_text`, arrayType: TEXTS, of: ({ entry }) => whole(entry.text) },
  ],
}

/** Returns the index rows of a changed resource. */
export function entryRows(change: Change): readonly EntryRow[] {
  const numbers = new Map<string, number>()
  return change.entries.map((entry) => {
    const n = numbers.get(entry.param) ?? 0
    numbers.set(entry.param, n + 1)
    return { change, n, entry }
  })
}

/**
 * Maximum UTF-16 units of a text in an index: two texts and the address of a resource fit into a third of a page, the maximum size of a
 * B-tree entry.
 */
const MAX_INDEXED = 400

/** Returns the indexed part of a text. */
function indexed(text: string | undefined): string | null {
  if (text === undefined) return null
  return text.length < MAX_INDEXED ? text : beginning(text)
}

/** Returns the whole text if the index has only its beginning. */
function whole(text: string | undefined): string | null {
  return text === undefined || text.length < MAX_INDEXED ? null : text
}

/** True if the index alone answers a test for this text: truncated texts are never as short. */
export function isAnsweredByIndex(text: string): boolean {
  return text.length < MAX_INDEXED - 1
}

/** Returns a beginning of the text that is also the beginning of everything in the index that starts with the text. */
export function beginning(text: string): string {
  const cut = text.slice(0, MAX_INDEXED)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

/** A column, and its value in a row. */
export interface Column<R> {
  readonly name: Sql
  readonly arrayType: Sql
  readonly of: (row: R) => CopyValue
}

/** A table to which rows are added. */
interface Insertion<R> {
  /** Name of the prepared statement. */
  readonly name: string
  readonly table: Sql
  readonly columns: readonly Column<R>[]
}

/** Minimum number of rows for COPY, which takes one more round trip, but less time per row on both sides. */
const COPIED_FROM = 100

/** Adds rows to a table. */
export async function insertRows<R>(executor: Executor, { name, table, columns }: Insertion<R>, rows: readonly R[]): Promise<void> {
  if (rows.length === 0) return
  const names = columnNames(columns)
  if (executor.copy !== undefined && rows.length >= COPIED_FROM) {
    const values = rows.values().map((row) => columns.map(({ of }) => of(row)))
    await executor.copy({ text: `COPY ${table.text} (${names.text}) FROM STDIN`, chunks: copyChunks(values) })
  } else {
    await executor.rows(prepared(name, sql`INSERT INTO ${table} (${names}) SELECT * FROM ${unnested(columns, rows)}`))
  }
}

/** Returns the rows as a table expression with one bound value per column. */
export function unnested<R>(columns: readonly Column<R>[], rows: readonly R[]): Sql {
  const arrays = columns.map(({ of, arrayType }) => sql`${rows.map(of)}::${arrayType}`)
  return sql`unnest(${joined(arrays, ', ')})`
}

/** Returns the names of columns, in order. */
export function columnNames<R>(columns: readonly Column<R>[]): Sql {
  return joined(
    columns.map(({ name }) => name),
    ', ',
  )
}
