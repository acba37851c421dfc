import { OperationError } from 'fhir-ops/errors'
import { storedResource, type StoredResource } from 'fhir-ops/storage'
import type { Command } from './command.js'
import { numberOf, textOf, type Row, type SqliteDriver } from './driver.js'
import { sql, type Sql } from './sql.js'

/** A current version as it leaves the database; plain data. */
export interface ResourceRow {
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
  /** Without `meta.versionId` and `meta.lastUpdated`. Absent when the reader said that it has this version. */
  readonly text?: string
}

/**
 * Reads one row.
 *
 * @param which Condition that holds for one resource.
 * @param known The version that the reader has; its text is not read.
 */
export function resourceRow(db: SqliteDriver, which: Sql, known: number | undefined): ResourceRow | undefined {
  const text = known === undefined ? sql`text` : sql`CASE WHEN version = ${known} THEN NULL ELSE text END`
  const row = db.get(sql`SELECT id, version, updated, ${text} FROM resource WHERE ${which}`)
  return row && rowOf(row)
}

function rowOf([id, version, updated, text]: Row): ResourceRow {
  return { id: textOf(id), version: numberOf(version), updated: numberOf(updated), ...(typeof text === 'string' && { text }) }
}

/** What callers of the storage get for a row with its text. */
export function resourceOf(type: string, { id, version, updated, text }: ResourceRow): StoredResource {
  if (text === undefined) throw new OperationError('storage-unavailable', 'The text of a resource is not there.')
  return storedResource({ type, id, versionId: String(version), lastUpdated: instantOf(updated), text })
}

/** An instant in UTC with milliseconds. */
export function instantOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Which resource is read. */
export interface ReadArgs {
  readonly type: string
  readonly id: string
  readonly known: number | undefined
}

/** Reads the current version of one resource. */
export const readResource: Command<ReadArgs, ResourceRow | undefined> = {
  name: 'read',
  lane: 'point',
  run: (db, { type, id, known }) => resourceRow(db, sql`type = ${type} AND id = ${id}`, known),
}
