import { OperationError } from 'fhir-ops/errors'
import { storedResource, type StoredResource } from 'fhir-ops/storage'

/** A current version as it leaves the database; plain data. */
export interface ResourceRow {
  readonly id: string
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
  /** Without `meta.versionId` and `meta.lastUpdated`. Absent when the reader said that it has this version. */
  readonly text?: string
}

/** What callers of the storage get for a row with its text. */
export function resourceOf(type: string, { id, version, updated, text }: ResourceRow): StoredResource {
  if (text === undefined) throw new OperationError('storage-unavailable', 'The text of a resource is missing.')
  return storedResource({ type, id, versionId: String(version), lastUpdated: instantOf(updated), text })
}

/** An instant in UTC with milliseconds. */
export function instantOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
