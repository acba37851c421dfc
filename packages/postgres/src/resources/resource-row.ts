import type { ResourceRow, ResourceCache } from '@fhir-ops/sql'
import { numberAt, textAt, sql, type Row } from '../database/sql.js'
import type { StoredResource } from 'fhir-ops/storage'
import type { Executor } from '../database/database.js'

/** Reads the columns `id`, `version`, `updated` and `text`. */
export function resourceRow(row: Row): ResourceRow {
  const { text } = row
  return {
    id: textAt(row, 'id'),
    version: numberAt(row, 'version'),
    updated: numberAt(row, 'updated'),
    ...(typeof text === 'string' && { text }),
  }
}

/** Size of a text in bytes from which it is worth asking whether it is cached. */
export const LARGE: number = 64 * 1024

/**
 * Returns the resources of rows that were read without large texts, and reads the missing ones. `undefined` if one of them has
 * changed meanwhile.
 */
export async function withLargeTexts(db: Executor, rows: readonly Row[], { type, cache }: Wanted): Promise<StoredResource[] | undefined> {
  const { versionOf, resource } = cache.lookUp(type)
  const found = rows.map(resourceRow)
  const missing = found.filter(({ id, version, text }) => text === undefined && versionOf(id) !== version).map(({ id }) => id)
  const read = sql`SELECT id, version, updated, text FROM fhir_resource WHERE type = ${type} AND id = ANY (${missing}) AND text IS NOT NULL`
  const texts = new Map((missing.length === 0 ? [] : await db.rows(read)).map(resourceRow).map((row) => [row.id, row]))
  const isMissing = new Set(missing)
  const items: StoredResource[] = []
  for (const row of found) {
    const whole = isMissing.has(row.id) ? texts.get(row.id) : row
    if (whole?.version !== row.version) return undefined
    items.push(resource(whole))
  }
  return items
}

interface Wanted {
  readonly type: string
  readonly cache: ResourceCache
}
