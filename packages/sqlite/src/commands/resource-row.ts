import type { ResourceRow } from '@fhir-ops/sql'
import type { Command } from './command.js'
import { numberOf, textOf, type Row, type SqliteDriver } from '../database/driver.js'
import { sql, type Sql } from '../database/sql.js'

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

/** The row of `id`, `version`, `updated` and `text`, the first columns of what was selected. */
export function rowOf([id, version, updated, text]: Row): ResourceRow {
  return { id: textOf(id), version: numberOf(version), updated: numberOf(updated), ...(typeof text === 'string' && { text }) }
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
