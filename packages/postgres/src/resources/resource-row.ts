import type { ResourceRow } from '@fhir-ops/sql'
import { numberAt, textAt, type Row } from '../database/row.js'

/** Reads `id`, `version`, `updated` and `text`. */
export function resourceRow(row: Row): ResourceRow {
  const { text } = row
  return {
    id: textAt(row, 'id'),
    version: numberAt(row, 'version'),
    updated: numberAt(row, 'updated'),
    ...(typeof text === 'string' && { text }),
  }
}
