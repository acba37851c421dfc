import type { ResourceRow } from '@fhir-ops/sql'
import type { Command } from './command.js'
import { numberOf, textOf, type Row } from '../database/driver.js'

/** Converts a row that starts with the columns `id`, `version`, `updated` and `text`. */
export function rowOf([id, version, updated, text]: Row): ResourceRow {
  return { id: textOf(id), version: numberOf(version), updated: numberOf(updated), ...(typeof text === 'string' && { text }) }
}

/** Columns of a row, without the text if the reader already has this version, which is the first bound value. */
export const COLUMNS = 'id, version, updated, CASE WHEN version = ? THEN NULL ELSE text END'
const READ = `SELECT ${COLUMNS} FROM resource WHERE type = ? AND id = ?`

/** The resource to read. */
interface ReadArgs {
  readonly type: string
  readonly id: string
  readonly known: number | undefined
}

/** Reads the current version of a resource. */
export const readResource: Command<ReadArgs, ResourceRow | undefined> = {
  name: 'read',
  lane: 'point',
  run(db, { type, id, known }) {
    const row = db.fixed(READ).get(known ?? null, type, id)
    return row && rowOf(row)
  },
}
