import { LRUCache } from 'lru-cache'
import type { StoredResource } from 'fhir-ops/storage'
import { resourceOf, type ResourceRow } from './rows.js'

/**
 * Resources that were read recently, so that a large one is read and parsed once. The database is asked for the current version every time; only the
 * text is spared.
 */
export interface ResourceCache {
  lookUp(type: string): LookUp
}

/** The use of the cache for one call. */
export interface LookUp {
  /** The version that is cached, to be compared in the database. */
  readonly versionOf: (id: string) => number | undefined
  /** The resource of a row: the cached one when the row has no text. */
  readonly resource: (row: ResourceRow) => StoredResource
}

/** What an entry weighs besides its text, in characters. */
const ENTRY_OVERHEAD = 500

/** Bounds of a cache. */
export interface ResourceCacheBounds {
  /** On the texts together; 0 keeps nothing. */
  readonly maxCharacters: number
  /** Shorter texts are not worth it. Default 0. */
  readonly fromCharacters?: number
}

/** Makes a cache that forgets what was unused for longest. */
export function createResourceCache({ maxCharacters, fromCharacters = 0 }: ResourceCacheBounds): ResourceCache {
  const kept = maxCharacters === 0 ? undefined : new LRUCache<string, StoredResource>({ maxSize: maxCharacters })
  return {
    lookUp(type) {
      const atHand = new Map<string, StoredResource>()
      return {
        versionOf(id) {
          const found = kept?.get(`${type}/${id}`)
          if (found === undefined) return undefined
          atHand.set(id, found)
          return Number(found.versionId)
        },
        resource(row) {
          const found = row.text === undefined ? atHand.get(row.id) : undefined
          if (found !== undefined) return found
          const resource = resourceOf(type, row)
          const characters = row.text?.length ?? 0
          if (characters >= fromCharacters) kept?.set(`${type}/${row.id}`, resource, { size: characters + ENTRY_OVERHEAD })
          return resource
        },
      }
    },
  }
}
