import { OperationError, quoted } from 'fhir-ops/errors'
import { checkLaidOut, type DeleteEntry, type PutEntry, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, type SqliteDriver } from './driver.js'
import { instantOf } from './resource-row.js'
import { sql } from './sql.js'

/** What a write call brings: `now` in milliseconds since 1970, by the caller's clock. */
export interface WriteArgs {
  readonly entries: readonly WriteEntry[]
  readonly now: number
}

/** The row of an id, live or deleted, before a write. */
interface Before {
  readonly key: number
  readonly version: number
  readonly updated: number
  readonly live: boolean
}

/** Applies puts and deletions in order. */
export const writeEntries: Command<WriteArgs, readonly WriteResult[]> = {
  name: 'write',
  lane: 'write',
  run: (db, { entries, now }) =>
    entries.map((entry) => {
      if (entry.op === 'put') checkLaidOut(entry)
      const before = rowBefore(db, entry)
      checkVersion(entry, before)
      // A clock that was set back must not make a resource older than it was.
      const updated = Math.max(now, before?.updated ?? now)
      return entry.op === 'put' ? put(db, entry, { before, updated }) : remove(db, entry, { before, updated })
    }),
}

interface Change {
  readonly before: Before | undefined
  readonly updated: number
}

function put(db: SqliteDriver, entry: PutEntry, { before, updated }: Change): WriteResult {
  const { type, id, text } = entry
  const version = (before?.version ?? 0) + 1
  const key = before?.key ?? addRow(db, entry, updated)
  if (before !== undefined) {
    db.run(sql`UPDATE resource SET version = ${version}, updated = ${updated}, live = 1, text = ${text} WHERE key = ${key}`)
    dropEntries(db, before)
  }
  addEntries(db, key, entry)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: before?.live !== true }
}

function remove(db: SqliteDriver, { type, id }: DeleteEntry, { before, updated }: Change): WriteResult {
  if (before?.live !== true) return { type, id, lastUpdated: instantOf(updated), created: false }
  const version = before.version + 1
  db.run(sql`UPDATE resource SET version = ${version}, updated = ${updated}, live = 0, text = NULL WHERE key = ${before.key}`)
  dropEntries(db, before)
  return { type, id, versionId: String(version), lastUpdated: instantOf(updated), created: false }
}

function rowBefore(db: SqliteDriver, { type, id }: WriteEntry): Before | undefined {
  const row = db.get(sql`SELECT key, version, updated, live FROM resource WHERE type = ${type} AND id = ${id}`)
  return row && { key: numberOf(row[0]), version: numberOf(row[1]), updated: numberOf(row[2]), live: row[3] === 1 }
}

function checkVersion({ type, id, ifVersion }: WriteEntry, before: Before | undefined): void {
  if (ifVersion === undefined) return
  const current = before?.live === true ? String(before.version) : null
  if (current === ifVersion) return
  const found = current === null ? 'does not exist' : `has version ${current}`
  const wanted = ifVersion === null ? 'it was to be created' : `version ${quoted(ifVersion)} was expected`
  throw new OperationError('version-conflict', `${type}/${id} ${found}, but ${wanted}.`)
}

function addRow(db: SqliteDriver, { type, id, text }: PutEntry, updated: number): number {
  const added = sql`INSERT INTO resource (type, id, version, updated, live, text) VALUES (${type}, ${id}, 1, ${updated}, 1, ${text}) RETURNING key`
  return numberOf(db.get(added)?.[0])
}

function dropEntries(db: SqliteDriver, { key, live }: Before): void {
  if (live) db.run(sql`DELETE FROM entry WHERE resource = ${key}`)
}

const ADD_ENTRY = 'INSERT INTO entry (resource, param, n, system, value, text, low, high) VALUES (?, ?, ?, ?, ?, ?, ?, ?)'

function addEntries(db: SqliteDriver, resource: number, { type, entries }: PutEntry): void {
  const add = db.bind(ADD_ENTRY)
  const params = new Map<string, number>()
  entries.forEach((entry, n) => {
    const param = params.get(entry.param) ?? paramKey(db, type, entry.param)
    params.set(entry.param, param)
    const { system = null, value = null, text = null, low = null, high = null } = entry
    add(resource, param, n, system, value, text, low, high)
  })
}

function paramKey(db: SqliteDriver, type: string, name: string): number {
  const known = db.get(sql`SELECT key FROM param WHERE type = ${type} AND name = ${name}`)
  return numberOf((known ?? db.get(sql`INSERT INTO param (type, name) VALUES (${type}, ${name}) RETURNING key`))?.[0])
}
