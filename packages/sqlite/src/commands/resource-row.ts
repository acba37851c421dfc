import type { ResourceRow } from '@fhir-ops/sql'
import type { Command } from './command.js'
import { numberOf, textOf, type Row } from '../database/driver.js'

/** The row of `id`, `version`, `updated` and `text`, the first columns of what was selected. */
export function rowOf([id, version, updated, text]: Row): ResourceRow {
  return { id: textOf(id), version: numberOf(version), updated: numberOf(updated), ...(typeof text === 'string' && { text }) }
}

/** The columns of a row, without the text of a version that the reader has: the first value. */
export const COLUMNS = 'id, version, updated, CASE WHEN version = ? THEN NULL ELSE text END'
const READ = `SELECT ${COLUMNS} FROM resource WHERE type = ? AND id = ?`

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
  run(db, { type, id, known }) {
    const row = db.fixed(READ).get(known ?? null, type, id)
    return row && rowOf(row)
  },
}
