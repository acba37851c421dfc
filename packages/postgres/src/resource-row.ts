import { storedResource, type StoredResource } from 'fhir-ops/storage'
import { numberAt, textAt, type Row } from './row.js'

/** What callers of the storage get for a row with `id`, `version`, `updated` and `text`. */
export function resourceOf(type: string, row: Row): StoredResource {
  return storedResource({
    type,
    id: textAt(row, 'id'),
    versionId: String(numberAt(row, 'version')),
    lastUpdated: instantOf(numberAt(row, 'updated')),
    text: textAt(row, 'text'),
  })
}

/** An instant in UTC with milliseconds. */
export function instantOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
