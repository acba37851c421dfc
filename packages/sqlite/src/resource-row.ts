import { storedResource, type StoredResource } from 'fhir-ops/storage'
import { numberOf, textOf, type Row, type SqliteDriver } from './driver.js'
import type { Command } from './command.js'
import { sql } from './sql.js'

/** A current version as it leaves the database; plain data. */
export interface ResourceRow {
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
  /** Without `meta.versionId` and `meta.lastUpdated`. */
  readonly text: string
}

/** The row's first columns, in this order: id, version, updated, text. */
export function resourceRow(row: Row): ResourceRow {
  return { id: textOf(row[0]), version: numberOf(row[1]), updated: numberOf(row[2]), text: textOf(row[3]) }
}

/** What callers of the storage get for a row. */
export function resourceOf(type: string, row: ResourceRow): StoredResource {
  return storedResource({ type, id: row.id, versionId: String(row.version), lastUpdated: instantOf(row.updated), text: row.text })
}

/** An instant in UTC with milliseconds. */
export function instantOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Reads the current version of one resource. */
export const readResource: Command<{ readonly type: string; readonly id: string }, ResourceRow | undefined> = {
  name: 'read',
  lane: 'point',
  run(db: SqliteDriver, { type, id }) {
    const row = db.get(sql`SELECT id, version, updated, text FROM resource WHERE type = ${type} AND id = ${id}`)
    return row && resourceRow(row)
  },
}
