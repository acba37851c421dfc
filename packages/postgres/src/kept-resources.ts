import { LRUCache } from 'lru-cache'
import type { StoredResource } from 'fhir-ops/storage'
import type { Executor } from './database.js'
import { resourceOf } from './resource-row.js'
import { numberAt, textAt, type Row } from './row.js'
import { sql } from './sql.js'

/**
 * Large resources that were read lately, so that a definition of megabytes is neither sent nor parsed again for every request. The
 * database is asked for the current version every time; only the text is spared.
 */
export interface KeptResources {
  /** The version at hand; `undefined` for none. */
  versionOf(type: string, id: string): number | undefined
  /** The resource of a row with its text, or of one whose version is at hand. */
  resource(type: string, row: Row): StoredResource
}

/** Bytes of a text from which on it is worth a question whether it is at hand. */
export const LARGE = 64 * 1024

/** @param maxCharacters Bound on the texts together; 0 keeps nothing. */
export function keptResources(maxCharacters: number): KeptResources {
  const kept = maxCharacters === 0 ? undefined : new LRUCache<string, StoredResource>({ maxSize: maxCharacters })
  return {
    versionOf(type, id) {
      const found = kept?.get(`${type}/${id}`)
      return found && Number(found.versionId)
    },
    resource(type, row) {
      const key = `${type}/${textAt(row, 'id')}`
      const found = kept?.get(key)
      if (found?.versionId === String(numberAt(row, 'version'))) return found
      const resource = resourceOf(type, row)
      const size = textAt(row, 'text').length
      if (size >= LARGE) kept?.set(key, resource, { size })
      return resource
    },
  }
}

/**
 * The resources of rows that came without their large texts; those that are not at hand are read. `undefined` when one of them was
 * changed meanwhile.
 */
export async function withLargeTexts(db: Executor, rows: readonly Row[], { type, kept }: Wanted): Promise<StoredResource[] | undefined> {
  const isMissing = (row: Row): boolean => row['text'] === null && kept.versionOf(type, textAt(row, 'id')) !== numberAt(row, 'version')
  const ids = rows.filter(isMissing).map((row) => textAt(row, 'id'))
  const read = sql`SELECT id, version, updated, text FROM fhir_resource WHERE type = ${type} AND id = ANY (${ids}) AND text IS NOT NULL`
  const found = new Map((ids.length === 0 ? [] : await db.rows(read)).map((row) => [textAt(row, 'id'), row]))
  const items: StoredResource[] = []
  for (const row of rows) {
    const whole = isMissing(row) ? found.get(textAt(row, 'id')) : row
    if (whole === undefined || numberAt(whole, 'version') !== numberAt(row, 'version')) return undefined
    items.push(kept.resource(type, whole))
  }
  return items
}

interface Wanted {
  readonly type: string
  readonly kept: KeptResources
}
