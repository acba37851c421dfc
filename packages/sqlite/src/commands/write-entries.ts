import { instantOf } from '@fhir-ops/sql'
import { checkLaidOut, checkVersion, type DeleteEntry, type PutEntry, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'

/** What a write call brings: `now` in milliseconds since 1970, by the caller's clock. */
export interface WriteArgs {
  readonly entries: readonly WriteEntry[]
  readonly now: number
  /** Whether the versions that are replaced are kept. */
  readonly history: boolean
}

/** The last version of an id before a write. */
interface Before {
  readonly version: number
  readonly updated: number
  /** Of the current resource; absent when it is deleted. */
  readonly key?: number
}

/** Applies puts and deletions in order. */
export const writeEntries: Command<WriteArgs, readonly WriteResult[]> = {
  name: 'write',
  lane: 'write',
  run(db, { entries, now, history }) {
    const paramOf = paramNumbers(db)
    return entries.map((entry) => {
      if (entry.op === 'put') checkLaidOut(entry)
      const before = versionBefore(db, entry)
      checkVersion(entry, before?.key === undefined ? null : String(before.version))
      // A clock that was set back must not make a resource older than it was.
      const updated = Math.max(now, before?.updated ?? now)
      const change = { before, updated, paramOf }
      if (history && before !== undefined) keep(db, entry, before)
      return entry.op === 'put' ? put(db, entry, change) : remove(db, entry, change)
    })
  },
}

interface Change {
  readonly before: Before | undefined
  /** Milliseconds since 1970. */
  readonly updated: number
  readonly paramOf: ParamNumbers
}

/** The number of a search parameter of a type. */
type ParamNumbers = (type: string, name: string) => number

/** Keeps the version that comes before this one; a deletion of what is deleted makes none. */
function keep(db: SqliteDriver, { op, type, id }: WriteEntry, { key, version, updated }: Before): void {
  if (key !== undefined) {
    db.run(
      sql`INSERT OR FAIL INTO old_version (type, id, version, updated, text) SELECT type, id, version, updated, text FROM resource WHERE key = ${key}`,
    )
  } else if (op === 'put') {
    db.run(sql`INSERT INTO old_version (type, id, version, updated) VALUES (${type}, ${id}, ${version}, ${updated})`)
  }
}

function put(db: SqliteDriver, entry: PutEntry, { before, updated, paramOf }: Change): WriteResult {
  const { type, id, text } = entry
  const version = (before?.version ?? 0) + 1
  const key = before?.key ?? addRow(db, entry, { version, updated })
  if (before?.key !== undefined) {
    db.run(sql`UPDATE resource SET version = ${version}, updated = ${updated}, text = ${text} WHERE key = ${key}`)
    db.run(sql`DELETE FROM entry WHERE resource = ${key}`)
  } else if (before !== undefined) {
    db.run(sql`DELETE FROM deleted WHERE type = ${type} AND id = ${id}`)
  }
  addEntries(db, entry, { resource: key, paramOf })
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: before?.key === undefined }
}

function remove(db: SqliteDriver, { type, id }: DeleteEntry, { before, updated }: Change): WriteResult {
  if (before?.key === undefined) return { type, id, lastUpdated: instantOf(updated), created: false }
  const version = before.version + 1
  db.run(sql`DELETE FROM entry WHERE resource = ${before.key}`)
  db.run(sql`DELETE FROM resource WHERE key = ${before.key}`)
  db.run(sql`INSERT INTO deleted (type, id, version, updated) VALUES (${type}, ${id}, ${version}, ${updated})`)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: false }
}

function versionBefore(db: SqliteDriver, { type, id }: WriteEntry): Before | undefined {
  const current = db.get(sql`SELECT version, updated, key FROM resource WHERE type = ${type} AND id = ${id}`)
  if (current !== undefined) return { version: numberOf(current[0]), updated: numberOf(current[1]), key: numberOf(current[2]) }
  const deleted = db.get(sql`SELECT version, updated FROM deleted WHERE type = ${type} AND id = ${id}`)
  return deleted && { version: numberOf(deleted[0]), updated: numberOf(deleted[1]) }
}

function addRow(
  db: SqliteDriver,
  { type, id, text }: PutEntry,
  { version, updated }: { readonly version: number; readonly updated: number },
): number {
  const added = sql`INSERT OR FAIL INTO resource (type, id, version, updated, text) VALUES (${type}, ${id}, ${version}, ${updated}, ${text}) RETURNING key`
  return numberOf(db.get(added)?.[0])
}

interface EntryKeys {
  readonly resource: number
  readonly paramOf: ParamNumbers
}

/** Rows of one statement: each statement has costs of its own, which `npm run bench storage` shows. */
const MAX_ROWS = 32

function addEntries(db: SqliteDriver, { type, entries }: PutEntry, { resource, paramOf }: EntryKeys): void {
  for (let from = 0; from < entries.length; from += MAX_ROWS) {
    const rows = entries.slice(from, from + MAX_ROWS)
    const values = rows.flatMap(({ param, system = null, value = null, text = null, low = null, high = null }, index) => {
      return [resource, paramOf(type, param), from + index, system, value, text, low, high]
    })
    db.bind(addRows(rows.length))(...values)
  }
}

/** What fails ends the whole write: told so by OR FAIL, SQLite keeps no journal of the single statement, which costs more than the rows. */
function addRows(count: number): string {
  return `INSERT OR FAIL INTO entry (resource, param, n, system, value, text, low, high) VALUES ${ROW}${`, ${ROW}`.repeat(count - 1)}`
}

const ROW = '(?, ?, ?, ?, ?, ?, ?, ?)'

/** Remembered for one write only, as the numbers that it makes go when it is rolled back. */
function paramNumbers(db: SqliteDriver): ParamNumbers {
  const numbers = new Map<string, number>()
  return (type, name) => {
    const key = `${type} ${name}`
    const number = numbers.get(key) ?? paramNumber(db, type, name)
    numbers.set(key, number)
    return number
  }
}

function paramNumber(db: SqliteDriver, type: string, name: string): number {
  const known = db.get(sql`SELECT key FROM param WHERE type = ${type} AND name = ${name}`)
  return numberOf((known ?? db.get(sql`INSERT INTO param (type, name) VALUES (${type}, ${name}) RETURNING key`))?.[0])
}
