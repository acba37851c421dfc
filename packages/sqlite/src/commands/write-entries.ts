import { instantOf } from '@fhir-ops/sql'
import {
  checkLaidOut,
  checkVersion,
  CONTAINED_PARAM,
  containedPuts,
  type DeleteEntry,
  type PutEntry,
  type WriteEntry,
  type WriteResult,
} from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, type SqliteDriver } from '../database/driver.js'
import { sql } from '../database/sql.js'
import { entryAdder, type AddEntries } from './entry-adder.js'
import { entriesOf, paramKey } from '../search/entry-sql.js'

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
    const addEntries = entryAdder(db)
    return entries.map((entry) => {
      checkLaidOut(entry)
      const before = versionBefore(db, entry)
      checkVersion(entry, before?.key === undefined ? null : String(before.version))
      // A clock that was set back must not make a resource older than it was.
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

function put(db: SqliteDriver, entry: PutEntry, { before, updated, addEntries }: Change): WriteResult {
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
  for (const contained of containedPuts(entry)) addEntries(addRow(db, contained, { version, updated }), contained)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: before?.key === undefined }
}

function remove(db: SqliteDriver, { type, id }: DeleteEntry, { before, updated }: Change): WriteResult {
  if (before?.key === undefined) return { type, id, lastUpdated: instantOf(updated), created: false }
  const version = before.version + 1
  removeContained(db, type, before.key)
  db.run(sql`DELETE FROM entry WHERE resource = ${before.key}`)
  db.run(sql`DELETE FROM resource WHERE key = ${before.key}`)
  db.run(sql`INSERT INTO deleted (type, id, version, updated) VALUES (${type}, ${id}, ${version}, ${updated})`)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: false }
}

/** What is within a resource goes with its version. */
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

function versionBefore(db: SqliteDriver, { type, id }: WriteEntry): Before | undefined {
  const last = db.fixed(LAST_VERSION).get(type, id, type, id)
  if (last === undefined) return undefined
  const [version, updated, key] = last
  return { version: numberOf(version), updated: numberOf(updated), ...(key !== null && { key: numberOf(key) }) }
}

const ADD_RESOURCE = 'INSERT OR FAIL INTO resource (type, id, version, updated, text) VALUES (?, ?, ?, ?, ?) RETURNING key'

function addRow(
  db: SqliteDriver,
  { type, id, text }: PutEntry,
  { version, updated }: { readonly version: number; readonly updated: number },
): number {
  return numberOf(db.fixed(ADD_RESOURCE).get(type, id, version, updated, text)?.[0])
}
