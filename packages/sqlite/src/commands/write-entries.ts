import { instantOf } from '@fhir-ops/sql'
import { checkOnlyMatch, checkVersion, type ConditionalPut } from 'fhir-ops/internal/storage'
import {
  checkLaidOut,
  CONTAINED_PARAM,
  containedPuts,
  type DeleteEntry,
  type PutEntry,
  type WriteEntry,
  type WriteResult,
} from 'fhir-ops/storage'
import { numberOf, sql, type SqliteDriver, type SqliteValue } from '../database/driver.js'
import { entriesOf, paramKey } from '../search/entry-sql.js'
import { firstMatches } from '../search/search-page.js'
import type { Command } from './command.js'

/** Number of values per index entry: the parameter, then the columns of the row. */
const FIELDS = 6

/**
 * A put in the form sent to the writer thread: its index entries are one flat list with `FIELDS` values each. Objects with named members would take three
 * times as long on both sides (`npm run bench first-load`).
 */
interface PackedPut extends Omit<PutEntry, 'entries' | 'contained' | 'ifOnlyMatch'> {
  readonly values: readonly SqliteValue[]
  /** Contained resources. */
  readonly contained: readonly PackedPut[]
}

/** A deletion. */
type PackedDelete = DeleteEntry

/** A change in the form sent to the writer thread. */
type PackedEntry = PackedPut | PackedDelete

/** @throws {OperationError} as `checkLaidOut`. */
export function packedEntry(entry: WriteEntry): PackedEntry {
  checkLaidOut(entry)
  return entry.op === 'delete' ? entry : packedPut(entry)
}

function packedPut(entry: PutEntry): PackedPut {
  const { op, type, id, text, entries, ifVersion } = entry
  const values: SqliteValue[] = []
  for (const { param, system, value, text: words, low, high } of entries)
    values.push(param, system ?? null, value ?? null, words ?? null, low ?? null, high ?? null)
  const contained = containedPuts(entry).map(packedPut)
  return { op, type, id, text, values, contained, ...(ifVersion !== undefined && { ifVersion }) }
}

/** Arguments of a write; `now` is in milliseconds since 1970, on the caller's clock. */
interface WriteArgs {
  readonly entries: readonly PackedEntry[]
  /** Checked first. Default none. */
  readonly conditions?: readonly ConditionalPut[]
  readonly now: number
  /** True if replaced versions are stored. */
  readonly history: boolean
}

/** The last version of an id before the write. */
interface Before {
  readonly version: number
  readonly updated: number
  /** Key of the current resource; absent if the resource is deleted. */
  readonly key?: number
}

/** Applies puts and deletions in order. */
export const writeEntries: Command<WriteArgs, readonly WriteResult[]> = {
  name: 'write',
  lane: 'write',
  run(db, { entries, conditions = [], now, history }) {
    for (const put of conditions)
      checkOnlyMatch(put, { matches: firstMatches(db, put), isCurrent: versionBefore(db, put)?.key !== undefined })
    const addEntries = entryAdder(db)
    const addNew = newAdder(db, addEntries)
    return entries.map((entry) => {
      const added = addNew(entry, now)
      if (added !== undefined) return added
      const before = versionBefore(db, entry)
      checkVersion(entry, before?.key === undefined ? null : String(before.version))
      // If the clock was set back, the version must not become older than its predecessor.
      const updated = Math.max(now, before?.updated ?? now)
      const change = { before, updated, addEntries }
      if (history && before !== undefined) keep(db, entry, before)
      return entry.op === 'put' ? put(db, entry, change) : remove(db, entry, change)
    })
  },
}

interface Change {
  readonly before: Before | undefined
  /** Milliseconds since 1970. */
  readonly updated: number
  readonly addEntries: AddEntries
}

/** Stores the version that is being replaced. Deleting a deleted resource does not create a version. */
function keep(db: SqliteDriver, { op, type, id }: PackedEntry, { key, version, updated }: Before): void {
  if (key !== undefined) {
    db.run(
      sql`INSERT OR FAIL INTO old_version (type, id, version, updated, text) SELECT type, id, version, updated, text FROM resource WHERE key = ${key}`,
    )
  } else if (op === 'put') {
    db.run(sql`INSERT INTO old_version (type, id, version, updated) VALUES (${type}, ${id}, ${version}, ${updated})`)
  }
}

/** Adds a resource under an id without earlier versions, relying on the unique index on ids; for any other entry, does nothing and returns `undefined`. */
function newAdder(db: SqliteDriver, addEntries: AddEntries): (entry: PackedEntry, now: number) => WriteResult | undefined {
  let wereDeleted = db.fixed(ANY_DELETED).get() !== undefined
  return (entry, now) => {
    wereDeleted ||= entry.op === 'delete'
    if (entry.op === 'delete' || wereDeleted || typeof entry.ifVersion === 'string') return undefined
    const { type, id, text } = entry
    const key = db.fixed(ADD_NEW).get(type, id, 1, now, text)?.[0]
    if (key === undefined) return undefined
    addEntries(numberOf(key), entry)
    addContained(db, entry, { addEntries, version: 1, updated: now })
    return { type, id, versionId: '1', lastUpdated: instantOf(now), created: true }
  }
}

const ANY_DELETED = 'SELECT 1 FROM deleted LIMIT 1'

function put(db: SqliteDriver, entry: PackedPut, { before, updated, addEntries }: Change): WriteResult {
  const { type, id, text } = entry
  const version = (before?.version ?? 0) + 1
  const key = before?.key ?? addRow(db, entry, { version, updated })
  if (before?.key !== undefined) {
    removeContained(db, type, before.key)
    db.run(sql`UPDATE resource SET version = ${version}, updated = ${updated}, text = ${text} WHERE key = ${key}`)
    db.run(sql`DELETE FROM entry WHERE resource = ${key}`)
  } else if (before !== undefined) {
    db.run(sql`DELETE FROM deleted WHERE type = ${type} AND id = ${id}`)
  }
  addEntries(key, entry)
  addContained(db, entry, { addEntries, version, updated })
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: before?.key === undefined }
}

interface Adding extends Stamp {
  readonly addEntries: AddEntries
}

function addContained(db: SqliteDriver, { contained }: PackedPut, { addEntries, ...stamp }: Adding): void {
  for (const within of contained) addEntries(addRow(db, within, stamp), within)
}

function remove(db: SqliteDriver, { type, id }: PackedDelete, { before, updated }: Change): WriteResult {
  if (before?.key === undefined) return { type, id, lastUpdated: instantOf(updated), created: false }
  const version = before.version + 1
  removeContained(db, type, before.key)
  db.run(sql`DELETE FROM entry WHERE resource = ${before.key}`)
  db.run(sql`DELETE FROM resource WHERE key = ${before.key}`)
  db.run(sql`INSERT INTO deleted (type, id, version, updated) VALUES (${type}, ${id}, ${version}, ${updated})`)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: false }
}

/** Removes contained resources together with the version of their container. */
function removeContained(db: SqliteDriver, type: string, container: number): void {
  const references = entriesOf(sql`${container}`, paramKey(type, CONTAINED_PARAM))
  const contained = sql`SELECT r.key FROM (${references}) AS e CROSS JOIN resource AS r INDEXED BY resource_id WHERE r.type = e.system AND r.id = e.value`
  for (const [key] of db.all(contained)) {
    db.run(sql`DELETE FROM entry WHERE resource = ${numberOf(key)}`)
    db.run(sql`DELETE FROM resource WHERE key = ${numberOf(key)}`)
  }
}

const LAST_VERSION = `SELECT version, updated, key FROM resource WHERE type = ? AND id = ?
  UNION ALL SELECT version, updated, NULL FROM deleted WHERE type = ? AND id = ?`

function versionBefore(db: SqliteDriver, { type, id }: Pick<PackedEntry, 'type' | 'id'>): Before | undefined {
  const last = db.fixed(LAST_VERSION).get(type, id, type, id)
  if (last === undefined) return undefined
  const [version, updated, key] = last
  return { version: numberOf(version), updated: numberOf(updated), ...(key !== null && { key: numberOf(key) }) }
}

const ADD_RESOURCE = 'INSERT OR FAIL INTO resource (type, id, version, updated, text) VALUES (?, ?, ?, ?, ?) RETURNING key'
const ADD_NEW = ADD_RESOURCE.replace('OR FAIL', 'OR IGNORE')

interface Stamp {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
}

function addRow(db: SqliteDriver, { type, id, text }: PackedPut, { version, updated }: Stamp): number {
  return numberOf(db.fixed(ADD_RESOURCE).get(type, id, version, updated, text)?.[0])
}

/** Adds the index entries of a resource that has none yet. */
type AddEntries = (resource: number, put: PackedPut) => void

/** Rows per statement; each statement has its own cost, as `npm run bench first-load` shows. */
const MAX_ROWS = 32

/** For a single write only: it caches numbers of search parameters, which become invalid if the write that creates them is rolled back. */
function entryAdder(db: SqliteDriver): AddEntries {
  const paramsOf = paramNumbers(db)
  return (resource, { type, values }) => {
    const numberOfParam = paramsOf(type)
    const count = values.length / FIELDS
    for (let from = 0; from < count; from += MAX_ROWS) {
      const bound: SqliteValue[] = []
      const end = Math.min(from + MAX_ROWS, count)
      for (let n = from; n < end; n++) {
        const at = n * FIELDS
        bound.push(resource, numberOfParam(String(values[at])), n)
        for (let field = at + 1; field < at + FIELDS; field++) bound.push(values[field] ?? null)
      }
      db.fixed(ADD_ROWS[end - from - 1] ?? '').run(...bound)
    }
  }
}

const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)'

/**
 * Statements that insert 1, 2, 3 and more rows. A failure ends the whole write, so OR FAIL is used: SQLite then keeps no journal for the single
 * statement, which would cost more than the rows.
 */
const ADD_ROWS: readonly string[] = Array.from(
  { length: MAX_ROWS },
  (_, others) => `INSERT OR FAIL INTO entry (resource, param, n, system, value, text, low, high) VALUES ${ROW}${`, ${ROW}`.repeat(others)}`,
)

function paramNumbers(db: SqliteDriver): (type: string) => (name: string) => number {
  const byType = new Map<string, Map<string, number>>()
  return (type) => {
    const known = byType.get(type) ?? new Map<string, number>()
    byType.set(type, known)
    return (name) => {
      const number = known.get(name) ?? paramNumber(db, type, name)
      known.set(name, number)
      return number
    }
  }
}

function paramNumber(db: SqliteDriver, type: string, name: string): number {
  const known = db.get(sql`SELECT key FROM param WHERE type = ${type} AND name = ${name}`)
  return numberOf((known ?? db.get(sql`INSERT INTO param (type, name) VALUES (${type}, ${name}) RETURNING key`))?.[0])
}
